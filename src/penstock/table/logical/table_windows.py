"""Windows of the Table API: the same relations that GROUP BY TUMBLE(..) and OVER (..) give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.columns.typed.nodes import Constant, InputRef, Typed
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.common.errors import NotSupportedError
from penstock.table.logical import builder
from penstock.table.logical.column_names import names_of, of_groups
from penstock.table.logical.function_calls import aggregate_columns
from penstock.table.logical.grouping import Groups
from penstock.table.logical.nodes import Relation
from penstock.table.logical.over_windows import over_call
from penstock.table.logical.scope import RelationScope, single
from penstock.table.logical.table_calls import spread_columns
from penstock.table.logical.windows import check_time, windowed
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position

_PROPERTIES = {"start": 0, "end": 1, "rowtime": 2, "proctime": 2}


@dataclass(frozen=True)
class GroupWindowSpec:
    """Tumble, Slide or Session: sizes as expressions, the time column, and the name of the window."""

    kind: str
    size: syntax.Expr
    slide: syntax.Expr | None
    time: syntax.Expr
    alias: str


class _WithColumns(RelationScope):
    """Sees also what an aggregate function gives, by name."""

    def __init__(self, made: Mapping[str, Typed], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._made = made

    def column(self, parts: tuple[str, ...], position: Position | None) -> tuple[Typed, tuple[str, ...]]:
        if parts[0] in self._made:
            return self._made[parts[0]], parts[1:]
        return super().column(parts, position)


def select(
    source: Relation,
    window: GroupWindowSpec,
    keys: Sequence[syntax.Expr],
    expressions: Sequence[syntax.Expr],
    aggregate: syntax.Expr | None = None,
) -> Relation:
    """`table.window(w).group_by(w, ..).select(..)`, or with an aggregate `...aggregate(..).select(..)`."""
    plain = Resolver(RelationScope(single(source), None, "window()", sql=False))
    column = plain.resolve(window.time)
    if not isinstance(column, InputRef):
        raise SqlValidationError("on() of a window takes a time column.")
    check_time(source.fields[column.index], window.kind, None)
    size = _millis(plain.resolve(window.size), window.kind)
    slide = None if window.slide is None else _millis(plain.resolve(window.slide), window.kind)
    relation = windowed(source, window.kind, column.index, size, slide, 0)
    added = builder.references(relation)[len(source.fields) :]
    rest = [key for key in keys if key != syntax.Name((window.alias,))]
    if len(rest) == len(keys):
        raise SqlValidationError(f"group_by() must name the window: col({window.alias!r}).")

    def of_window(expression: syntax.Expr) -> bool:
        match expression:
            case syntax.Call(function, (syntax.Name((name,)),)):
                return function in _PROPERTIES and name == window.alias
        return False

    def special(call: syntax.Call, resolver: Resolver) -> Typed | None:
        return added[_PROPERTIES[call.function]] if of_window(call) else None

    made = {} if aggregate is None else aggregate_columns(source, aggregate)
    scope = _WithColumns(made, single(source), None, "select()", sql=False, aggregates=not made, special=special)
    nodes = [Resolver(scope).resolve(expression) for expression in expressions]
    typed_keys = [*(plain.resolve(key) for key in rest), *added]
    groups = Groups(relation, typed_keys, [tuple(range(len(typed_keys)))], None)
    for node in nodes:
        groups.note(node)
    grouped = groups.relation()
    names = names_of(expressions, lambda part: of_window(part) or of_groups(part))
    return builder.project(grouped, [groups.rewrite(node, None) for node in nodes], names)


def _millis(node: Typed, kind: str) -> int:
    if isinstance(node, Constant) and isinstance(node.data_type, DayTimeIntervalType):
        return int(node.value)
    raise NotSupportedError(
        f"{kind} windows need a time interval such as lit(10).seconds: windows that count rows are not there for"
        " tables; use ROW_NUMBER, or a DataStream with count_window()."
    )


def select_over(
    source: Relation, windows: Mapping[str, syntax.WindowSpec], expressions: Sequence[syntax.Expr]
) -> Relation:
    """`table.over_window(w).select(col("a").sum.over(col("w")), ..)`."""
    scope = RelationScope(
        single(source), None, "select()", sql=False, windows=lambda over, resolver: over_call(over, resolver, windows)
    )
    spread = spread_columns(expressions, source)
    return builder.project(source, [Resolver(scope).resolve(one) for one in spread], names_of(spread))
