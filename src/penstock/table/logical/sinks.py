"""INSERT: the query's columns are brought to those of the sink, or it is said which one does not fit."""

from __future__ import annotations

from penstock.columns.typed.nodes import Constant, Typed
from penstock.columns.typesystem.casting import implicitly_castable
from penstock.columns.typesystem.scalars import CharType
from penstock.table.logical import builder
from penstock.table.logical.nodes import Relation, Sink
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.tables import TableDefinition, TableLookup, ViewDefinition
from penstock.table.resolution.calls import implied
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax.queries import Query


def build_insert(insert: st.Insert, tables: TableLookup) -> Relation:
    target = tables.find(insert.path)
    name = ".".join(insert.path)
    if target is None:
        raise SqlValidationError(
            f"There is no table {name!r}.{suggestion(insert.path[-1], tables.known_names())}", insert.position
        )
    if isinstance(target, ViewDefinition):
        raise SqlValidationError(f"{name!r} is a view: rows can be written only into tables.", insert.position)
    query = QueryBuilder(tables).query(insert.query)
    return _fitted(insert, query, target, name)


def build_sink(query: Relation, path: tuple[str, ...], target: TableDefinition, overwrite: bool) -> Sink:
    """The rows of a plan into a table, column by column."""
    insert = st.Insert(path, Query(), overwrite=overwrite)
    return _fitted(insert, query, target, ".".join(path))


def _fitted(insert: st.Insert, query: Relation, target: TableDefinition, name: str) -> Sink:
    nodes = _placed(insert, query, target, dict(insert.partition), name)
    for field, node in zip(target.sink_fields, nodes, strict=True):
        if not implicitly_castable(node.data_type.nullable(), field.data_type.nullable()):
            raise SqlValidationError(
                f"Column {field.name!r} of {name!r} is {field.data_type.as_summary_string()}, but the query gives"
                f" {node.data_type.as_summary_string()} for it. CAST it.\n{_schemas(query, target)}",
                insert.position,
            )
    fitted = [implied(node, field.data_type) for node, field in zip(nodes, target.sink_fields, strict=True)]
    source = builder.project(query, fitted, [field.name for field in target.sink_fields])
    return Sink(
        target.sink_fields, source, insert.path, target, insert.overwrite, insert.partition, insert.on_conflict,
        insert.options, position=insert.position,
    )  # fmt: skip


def _placed(
    insert: st.Insert, query: Relation, target: TableDefinition, static: dict[str, object], name: str
) -> list[Typed]:
    """For each column of the sink what goes into it: a column of the query, a static partition value, or null."""
    names = [field.name for field in target.sink_fields]
    wanted = list(insert.columns) or [column for column in names if column not in static]
    for column in (*wanted, *static):
        if column not in names:
            raise SqlValidationError(
                f"There is no column {column!r} in {name!r}.{suggestion(column, names)}", insert.position
            )
    twice = next((column for column in wanted if wanted.count(column) > 1), None)
    if twice is not None:
        raise SqlValidationError(f"INSERT names the column {twice!r} of {name!r} twice.", insert.position)
    if len(wanted) != len(query.fields):
        raise SqlValidationError(
            f"{name!r} takes {len(wanted)} columns here, but the query gives {len(query.fields)}."
            f"\n{_schemas(query, target)}",
            insert.position,
        )
    given = dict(zip(wanted, builder.references(query), strict=True))
    nodes: list[Typed] = []
    for field in target.sink_fields:
        if field.name in given:
            nodes.append(given[field.name])
        elif field.name in static:
            text = str(static[field.name])
            nodes.append(implied(Constant(CharType(len(text), False), text), field.data_type))
        elif field.data_type.is_nullable:
            nodes.append(Constant(field.data_type, None))
        else:
            raise SqlValidationError(
                f"Column {field.name!r} of {name!r} has no value and cannot be null.", insert.position
            )
    return nodes


def _schemas(query: Relation, target: TableDefinition) -> str:
    ours = ", ".join(f"{field.name}: {field.data_type.as_summary_string()}" for field in query.fields)
    theirs = ", ".join(f"{field.name}: {field.data_type.as_summary_string()}" for field in target.sink_fields)
    return f"  query: [{ours}]\n  sink:  [{theirs}]"
