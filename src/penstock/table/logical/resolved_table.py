"""From a declared table to one that plans can use: types of computed columns, time attributes, keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.columns.typed.nodes import InputRef, TimeAttribute, Typed, columns_of
from penstock.columns.typesystem import families
from penstock.columns.typesystem.scalars import LocalZonedTimestampType, TimestampType
from penstock.table.logical.builder import is_proctime
from penstock.table.logical.conditions import moved
from penstock.table.logical.nodes import Field, Fields, Relation
from penstock.table.logical.scope import RelationScope, single
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax.expressions import Expr

_TIME_PRECISION = 3


@dataclass(frozen=True)
class ResolvedTable:
    """The parts of a table in the order of its declaration.

    `stored` are the columns that the connector gives: physical ones and metadata. `expressions` compute all columns
    from them. The watermark's expression sees all columns.
    """

    fields: Fields
    stored: Fields
    metadata: tuple[tuple[str, str], ...]  # column and key of each metadata column
    virtual: frozenset[str]  # metadata columns that are not written
    expressions: tuple[Typed, ...]
    watermark: tuple[int, Typed] | None
    primary_key: tuple[str, ...]

    @property
    def written(self) -> Fields:
        """The columns that INSERT fills."""
        return tuple(field for field in self.stored if field.name not in self.virtual)

    @property
    def physical(self) -> Fields:
        """The columns that rows outside have."""
        keys = {column for column, _ in self.metadata}
        return tuple(field for field in self.stored if field.name not in keys)

    def narrowed(self, names: Sequence[str]) -> ResolvedTable:
        """The table with some of its columns, and with what is stored for them."""
        kept = [place for place, field in enumerate(self.fields) if field.name in names]
        read: set[int] = set().union(*(columns_of(self.expressions[place]) for place in kept))
        places = {old: new for new, old in enumerate(sorted(read))}
        stored = tuple(self.stored[place] for place in sorted(read))
        inside = {field.name for field in stored}
        watermark = self.watermark
        if watermark is not None:
            new_places = {old: new for new, old in enumerate(kept)}
            watermark = new_places[watermark[0]], moved(watermark[1], new_places)
        return replace(
            self,
            fields=tuple(self.fields[place] for place in kept),
            stored=stored,
            metadata=tuple(pair for pair in self.metadata if pair[0] in inside),
            expressions=tuple(moved(self.expressions[place], places) for place in kept),
            watermark=watermark,
        )

    @property
    def computes(self) -> bool:
        return [field.name for field in self.fields] != [field.name for field in self.stored]


def resolve_table(body: st.TableBody) -> ResolvedTable:
    _no_duplicates([column.name for column in body.columns])
    key = body.primary_key.columns if body.primary_key is not None else ()
    stored = tuple(
        Field(column.name, column.data_type.not_null() if column.name in key else column.data_type)
        for column in body.columns
        if not isinstance(column, st.ComputedColumn)
    )
    base = Relation(stored)
    expressions: list[Typed] = []
    fields: list[Field] = []
    for column in body.columns:
        if isinstance(column, st.ComputedColumn):
            node = _resolved(column.expression, base, f"the computed column {column.name!r}")
            time = TimeAttribute.PROCTIME if is_proctime(node) else None
            expressions.append(node)
            fields.append(Field(column.name, node.data_type, time))
        else:
            place = base.names.index(column.name)
            field = stored[place]
            expressions.append(InputRef(field.data_type, place, field.name))
            fields.append(field)
    watermark = None if body.watermark is None else _watermark(body.watermark, fields)
    if watermark is not None:
        place = watermark[0]
        fields[place] = replace(fields[place], time=TimeAttribute.ROWTIME)
    if body.primary_key is not None and body.primary_key.enforced:
        raise SqlValidationError("PRIMARY KEY: add NOT ENFORCED, as nobody checks that rows have keys of their own.")
    _check_key(key, stored, [field.name for field in fields])
    unknown = next((name for name in body.partitioned_by if name not in [field.name for field in fields]), None)
    if unknown is not None:
        names = [field.name for field in fields]
        raise SqlValidationError(f"PARTITIONED BY: there is no column {unknown!r}.{suggestion(unknown, names)}")
    metadata = [column for column in body.columns if isinstance(column, st.MetadataColumn)]
    return ResolvedTable(
        tuple(fields),
        stored,
        tuple((column.name, column.key or column.name) for column in metadata),
        frozenset(column.name for column in metadata if column.virtual),
        tuple(expressions),
        watermark,
        tuple(key),
    )


def _resolved(expression: Expr, relation: Relation, where: str) -> Typed:
    return Resolver(RelationScope(single(relation), None, where)).resolve(expression)


def _watermark(watermark: st.Watermark, fields: list[Field]) -> tuple[int, Typed]:
    relation = Relation(tuple(fields))
    name = watermark.column[0]
    if len(watermark.column) > 1 or name not in relation.names:
        shown = ".".join(watermark.column)
        raise SqlValidationError(
            f"WATERMARK FOR {shown}: there is no such column at the top of the table."
            f"{suggestion(shown, relation.names)}"
        )
    place = relation.names.index(name)
    kind = fields[place].data_type
    if not isinstance(kind, (TimestampType, LocalZonedTimestampType)) or kind.precision > _TIME_PRECISION:
        raise SqlValidationError(
            f"WATERMARK FOR {name}: the time must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3, but it is"
            f" {kind.as_summary_string()}."
        )
    node = _resolved(watermark.expression, relation, "WATERMARK")
    if not families.is_timestamp(node.data_type):
        raise SqlValidationError(
            f"The watermark of {name} must be a timestamp, but the expression gives"
            f" {node.data_type.as_summary_string()}."
        )
    return place, node


def _no_duplicates(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SqlValidationError(f"The column {twice[0]!r} is declared twice.")


def _check_key(key: tuple[str, ...], stored: Fields, names: list[str]) -> None:
    physical = [field.name for field in stored]
    for column in key:
        if column not in names:
            raise SqlValidationError(f"PRIMARY KEY: there is no column {column!r}.{suggestion(column, names)}")
        if column not in physical:
            raise SqlValidationError(f"PRIMARY KEY: {column!r} is computed; a key needs columns that are stored.")
