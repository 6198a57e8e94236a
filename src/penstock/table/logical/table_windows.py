"""Windows of the Table API: the same relations that GROUP BY TUMBLE(..) and OVER (..) give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.columns.typed.nodes import Constant, InputRef, TimeAttribute, Typed
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.common.errors import NotSupportedError
from penstock.table.logical import builder
from penstock.table.logical.column_names import names_of, of_groups
from penstock.table.logical.function_calls import row_columns, taken_apart
from penstock.table.logical.grouping import Groups
from penstock.table.logical.nodes import Aggregation, Field, Relation, RowWindowAggregation
from penstock.table.logical.over_windows import over_call
from penstock.table.logical.scope import RelationScope, single
from penstock.table.logical.table_calls import spread_columns
from penstock.table.logical.windows import check_time, windowed, with_time_type
from penstock.table.resolution.python_calls import python_aggregate
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax

_PROPERTIES = {"start": 0, "end": 1, "rowtime": 2}


@dataclass(frozen=True)
class GroupWindowSpec:
    """Tumble, Slide or Session: sizes as expressions, the time column, and the name of the window."""

    kind: str
    size: syntax.Expr
    slide: syntax.Expr | None
    time: syntax.Expr
    alias: str


def select(
    source: Relation, window: GroupWindowSpec, keys: Sequence[syntax.Expr], expressions: Sequence[syntax.Expr]
) -> Relation:
    """`table.window(w).group_by(w, ..).select(..)`."""
    groups = _WindowGroups(source, window, keys)
    scope = RelationScope(
        single(source), None, "select()", sql=False, aggregates=True, grouped=False, special=groups.special
    )
    nodes = [Resolver(scope).resolve(expression) for expression in expressions]
    made = groups.relation(nodes)
    names = names_of(expressions, groups.is_asked)
    return builder.project(made, [groups.groups.rewrite(node, None) for node in nodes], names)


def select_aggregated(
    source: Relation,
    window: GroupWindowSpec,
    keys: Sequence[syntax.Expr],
    call: syntax.Expr,
    expressions: Sequence[syntax.Expr],
) -> Relation:
    """`table.window(w).group_by(w, ..).aggregate(f).select(..)`: keys, and the columns of the ROW of the function."""
    function, arguments, names = taken_apart(source, call, ("aggregate",), "aggregate()")
    node = python_aggregate(function, list(arguments), False, None, None)
    groups = _WindowGroups(source, window, keys)
    made = groups.relation([node])
    row = groups.groups.rewrite(node, None)
    values, given = row_columns(function, row, names)
    key_columns = builder.references(made)[: len(made.fields) - 1]
    relation = builder.project(made, [*key_columns, *values], [*made.names[:-1], *given])
    columns = builder.references(relation)

    def special(found: syntax.Call, resolver: Resolver) -> Typed | None:
        column = groups.special(found, resolver)
        return columns[groups.keys.index(column)] if column in groups.keys else column

    scope = RelationScope(single(relation), None, "select()", sql=False, special=special)
    spread = spread_columns(expressions, relation)
    names = names_of(spread, groups.is_asked)
    return builder.project(relation, [Resolver(scope).resolve(one) for one in spread], names)


class _WindowGroups:
    """The groups of a window, which is one of time or of a number of rows."""

    def __init__(self, source: Relation, window: GroupWindowSpec, keys: Sequence[syntax.Expr]) -> None:
        plain = Resolver(RelationScope(single(source), None, "window()", sql=False))
        column = plain.resolve(window.time)
        if not isinstance(column, InputRef):
            raise SqlValidationError("on() of a window takes a time column.")
        check_time(source.fields[column.index], window.kind, None)
        self._alias = window.alias
        self._rows = _rows(window, column, plain)
        self._added: list[Typed] = []
        if self._rows is None:
            size = _millis(plain.resolve(window.size), window.kind)
            slide = None if window.slide is None else _millis(plain.resolve(window.slide), window.kind)
            relation = with_time_type(windowed(source, window.kind, column.index, size, slide, 0), column.index)
            source = _with_bounds_that_may_be_null(relation, len(source.fields))
            self._added = builder.references(source)[-3:]
        rest = [key for key in keys if key != syntax.Name((window.alias,))]
        if len(rest) == len(keys):
            raise SqlValidationError(f"group_by() must name the window: col({window.alias!r}).")
        self.keys = [*(plain.resolve(key) for key in rest), *self._added]
        self.groups = Groups(source, self.keys, [tuple(range(len(self.keys)))], None)

    def is_asked(self, expression: syntax.Expr) -> bool:
        """Whether it asks for something of the group: an aggregate, or a property of the window."""
        return self._of_window(expression) or of_groups(expression)

    def _of_window(self, expression: syntax.Expr) -> bool:
        match expression:
            case syntax.Call(function, (syntax.Name((name,)),)):
                return (function in _PROPERTIES or function == "proctime") and name == self._alias
        return False

    def special(self, call: syntax.Call, resolver: Resolver) -> Typed | None:
        if not self._of_window(call):
            return None
        if self._rows is not None:
            raise SqlValidationError(f"A window of rows has no {call.function}: only one of time has.")
        if call.function == "proctime":
            return resolver.checked("proctime", [], call.position)
        return self._added[_PROPERTIES[call.function]]

    def relation(self, nodes: Sequence[Typed]) -> Relation:
        for node in nodes:
            self.groups.note(node)
        made = self.groups.relation()
        if self._rows is None:
            return made
        assert isinstance(made, Aggregation)
        return RowWindowAggregation(made.fields, made.source, made.keys, made.calls, *self._rows)


def _with_bounds_that_may_be_null(relation: Relation, first: int) -> Relation:
    """As Flink types them in the Table API; in SQL they are NOT NULL."""
    fields = list(relation.fields)
    fields[first : first + 2] = [Field(one.name, one.data_type.nullable()) for one in fields[first : first + 2]]
    return replace(relation, fields=tuple(fields))


def _rows(window: GroupWindowSpec, time: InputRef, resolver: Resolver) -> tuple[int, int] | None:
    """Size and slide of a window that counts rows."""
    sizes = [one for one in (window.size, window.slide) if one is not None]
    counted = [one.arguments[0] for one in sizes if isinstance(one, syntax.Call) and one.function == "rowInterval"]
    if not counted:
        return None
    if len(counted) < len(sizes):
        raise SqlValidationError("Size and slide of a window are both rows, or both intervals of time.")
    if time.time is not TimeAttribute.PROCTIME:
        raise NotSupportedError(
            "Windows that count rows take them as they come: on() needs a processing time, as in Flink."
        )
    numbers = [node.value for node in map(resolver.resolve, counted) if isinstance(node, Constant)]
    if any(number <= 0 for number in numbers):
        raise SqlValidationError(f"{window.kind} needs a positive number of rows.")
    return numbers[0], numbers[-1]


def _millis(node: Typed, kind: str) -> int:
    if isinstance(node, Constant) and isinstance(node.data_type, DayTimeIntervalType):
        return int(node.value)
    raise SqlValidationError(
        f"{kind} windows need a time interval such as lit(10).seconds, or row_interval(10) for a number of rows."
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
