"""TO_CHANGELOG and FROM_CHANGELOG: kinds of changes become a column, and a column becomes kinds of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.columns.typed.nodes import Constant, Convert, Invoke
from penstock.columns.typesystem import families
from penstock.columns.typesystem.data_types import DataTypes
from penstock.table.logical.nodes import Field, FromChangelog, Relation, ToChangelog
from penstock.table.logical.scope import RelationScope
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position

KINDS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
_PARAMETERS = ("input", "op", "op_mapping")
_OP = "op"


def is_changelog_function(name: str) -> bool:
    return name.upper() in ("TO_CHANGELOG", "FROM_CHANGELOG")


def arguments_of(call: syntax.Call, names: Sequence[str] = _PARAMETERS) -> dict[str, syntax.Expr]:
    """By name, however they were given."""
    found: dict[str, syntax.Expr] = {}
    for place, argument in enumerate(call.arguments):
        name = argument.name.lower() if isinstance(argument, syntax.Named) else "".join(names[place : place + 1])
        if name not in names:
            raise SqlValidationError(
                f"{call.function} takes {', '.join(names)}.{suggestion(name, names) if name else ''}", argument.position
            )
        found[name] = argument.value if isinstance(argument, syntax.Named) else argument
    return found


def changelog_function(
    name: str, source: Relation, partition: Sequence[int], given: Mapping[str, syntax.Expr], position: Position | None
) -> Relation:
    column, mapping = _column(name, given.get("op")), _mapping(name, given.get("op_mapping"))
    if partition:
        raise SqlValidationError(f"{name} takes rows as they come: leave PARTITION BY out.", position)
    if name.upper() == "TO_CHANGELOG":
        return _to_changelog(source, column, mapping, position)
    return _from_changelog(source, column, mapping, position)


def _to_changelog(source: Relation, column: str, mapping: dict[str, str] | None, position: Position | None) -> Relation:
    """The kind of the change, and the columns."""
    if column in source.names:
        raise SqlValidationError(f"There is a column {column!r} already: name another one by op.", position)
    codes = dict(zip(KINDS, KINDS, strict=True)) if mapping is None else _split(mapping, "TO_CHANGELOG", position)
    unknown = [kind for kind in codes if kind not in KINDS]
    if unknown:
        raise SqlValidationError(f"{unknown[0]!r} is no change: there are {', '.join(KINDS)}.", position)
    fields = [Field(field.name, field.data_type) for field in source.fields]
    shown = tuple(codes.get(kind) for kind in KINDS)
    return ToChangelog((Field(column, DataTypes.STRING()), *fields), source, shown, position=position)


def _from_changelog(
    source: Relation, column: str, mapping: dict[str, str] | None, position: Position | None
) -> Relation:
    """The columns without that of the kind."""
    if column not in source.names:
        raise SqlValidationError(
            f"FROM_CHANGELOG: there is no column {column!r}.{suggestion(column, source.names)}", position
        )
    place = source.names.index(column)
    if not families.is_text(source.fields[place].data_type):
        raise SqlValidationError(f"FROM_CHANGELOG: the column {column!r} must be a STRING.", position)
    kinds = dict(zip(KINDS, KINDS, strict=True)) if mapping is None else _split(mapping, "FROM_CHANGELOG", position)
    unknown = [kind for kind in kinds.values() if kind not in KINDS]
    if unknown:
        raise SqlValidationError(f"{unknown[0]!r} is no change: there are {', '.join(KINDS)}.", position)
    fields = tuple(Field(field.name, field.data_type) for at, field in enumerate(source.fields) if at != place)
    codes = tuple((code, KINDS.index(kind)) for code, kind in kinds.items())
    return FromChangelog(fields, source, place, codes, position=position)


def _column(name: str, argument: syntax.Expr | None) -> str:
    if argument is None or isinstance(argument, syntax.Default):
        return _OP
    if not isinstance(argument, syntax.Descriptor) or len(argument.columns) != 1:
        raise SqlValidationError(f"{name} takes op as DESCRIPTOR(column).", argument.position)
    return argument.columns[0]


def _mapping(name: str, argument: syntax.Expr | None) -> dict[str, str] | None:
    if argument is None or isinstance(argument, syntax.Default):
        return None
    node = Resolver(RelationScope((), None, name)).resolve(argument)
    given = node.arguments if isinstance(node, Invoke) and node.function == "map" else ()
    plain = [part.operand if isinstance(part, Convert) else part for part in given]  # texts of different lengths
    values = [str(part.value) for part in plain if isinstance(part, Constant)]
    if not values or len(values) < len(given):
        raise SqlValidationError(f"{name} takes op_mapping as MAP['..', '..', ..] of texts.", argument.position)
    return dict(zip(values[::2], values[1::2], strict=True))


def _split(mapping: dict[str, str], name: str, position: Position | None) -> dict[str, str]:
    """A key may name several: 'c, r'."""
    found: dict[str, str] = {}
    for keys, value in mapping.items():
        for key in (part.strip() for part in keys.split(",")):
            if key in found:
                raise SqlValidationError(f"{name}: op_mapping names {key!r} twice.", position)
            found[key] = value.strip()
    return found
