"""Grouped queries: keys, grouping sets, group windows, and what may be selected from groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, OverCall, SortKey, Typed, walk
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.table.logical import builder
from penstock.table.logical.nodes import Relation, WindowAssignment
from penstock.table.logical.windows import check_time, windowed, with_time_type
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import GroupingSet

_GROUP_WINDOWS = ("TUMBLE", "HOP", "SESSION")
_PROPERTIES = {"START": 0, "END": 1, "ROWTIME": 2, "PROCTIME": 2}


class GroupWindow:
    """TUMBLE(ts, ..) in GROUP BY: assigned below the aggregation, its properties are the added columns."""

    def __init__(self, call: syntax.Call, source: Relation, resolver: Resolver) -> None:
        self.kind = call.function.upper()
        self.call = call
        time, *spans = call.arguments
        column = resolver.resolve(time)
        if not isinstance(column, InputRef):
            raise SqlValidationError(f"{self.kind} in GROUP BY needs a time column.", call.position)
        check_time(source.fields[column.index], self.kind, call.position)
        amounts = [_span(resolver.resolve(span), self.kind, span.position) for span in spans]
        slide, size = (amounts[0], amounts[1]) if self.kind == "HOP" else (None, amounts[0])
        self.width = len(source.fields)
        self.relation = with_time_type(windowed(source, self.kind, column.index, size, slide, 0), column.index)

    def property(self, call: syntax.Call) -> Typed | None:
        """What TUMBLE_START(..) means, if it names this window."""
        name, _, suffix = call.function.upper().partition("_")
        if name not in _GROUP_WINDOWS or suffix not in _PROPERTIES:
            return None
        if name != self.kind or call.arguments != self.call.arguments:
            raise SqlValidationError(
                f"{call.function} must have the same arguments as {self.kind} in GROUP BY.", call.position
            )
        place = self.width + _PROPERTIES[suffix]
        field = self.relation.fields[place]
        return InputRef(field.data_type, place, field.name, field.time)


def _span(node: Typed, kind: str, position: Position | None) -> int:
    if not (isinstance(node, Constant) and isinstance(node.data_type, DayTimeIntervalType)):
        raise SqlValidationError(f"{kind} in GROUP BY takes intervals of days or less.", position)
    value: Any = node.value
    return int(value)


def is_group_window(item: syntax.Expr | GroupingSet) -> bool:
    return isinstance(item, syntax.Call) and item.function.upper() in _GROUP_WINDOWS


def expand(items: tuple[syntax.Expr | GroupingSet, ...]) -> tuple[list[syntax.Expr], list[tuple[int, ...]]]:
    """The distinct key expressions, and the key positions of each grouping set."""
    keys: list[syntax.Expr] = []

    def place(expression: syntax.Expr) -> int:
        if expression not in keys:
            keys.append(expression)
        return keys.index(expression)

    sets: list[tuple[int, ...]] = [()]
    for item in items:
        options = _sets_of(item, place) if isinstance(item, GroupingSet) else [(place(item),)]
        sets = [tuple(dict.fromkeys((*first, *second))) for first in sets for second in options]
    return keys, sets


def _sets_of(item: GroupingSet, place: Any) -> list[tuple[int, ...]]:
    elements: list[list[tuple[int, ...]]] = [
        _sets_of(element, place) if isinstance(element, GroupingSet) else [tuple(place(one) for one in element)]
        for element in item.elements
    ]
    if item.kind == "SETS":
        return [found for options in elements for found in options]
    flat = [options[0] for options in elements]
    if item.kind == "ROLLUP":
        return [_merged(flat[:count]) for count in range(len(flat), -1, -1)]
    chosen = [combo for count in range(len(flat), -1, -1) for combo in combinations(flat, count)]
    return [_merged(list(combo)) for combo in chosen]


def _merged(parts: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for part in parts for place in part))


class Groups:
    """Rewrites expressions over the ungrouped rows into expressions over the groups."""

    def __init__(self, source: Relation, keys: list[Typed], sets: list[tuple[int, ...]], window: GroupWindow | None):
        self._keys = keys
        self._source = source
        self._sets = sets if len(sets) > 1 or (sets and len(sets[0]) < len(keys)) else []
        self._window = window
        self._calls: list[Aggregate] = []

    def note(self, node: Typed) -> None:
        """Remembers the aggregate functions in an expression, to be computed with the groups."""
        for part in walk(node):
            if isinstance(part, Aggregate) and part not in self._calls:
                self._calls.append(part)
            if isinstance(part, OverCall):
                for argument in part.call.arguments:
                    self.note(argument)
                for key in part.order_by:
                    self.note(key.operand)

    def relation(self, state_ttl: int | None = None) -> Relation:
        """The aggregation, over a projection of just what it needs."""
        inputs: list[Typed] = list(self._keys)
        calls = [self._moved(call, inputs) for call in self._calls]
        names = [_name(node, place) for place, node in enumerate(inputs)]
        below = builder.project(self._source, inputs, names)
        keep_time = self._window is not None or _over_window(self._source)
        made = builder.aggregated(below, range(len(self._keys)), calls, self._sets, keep_time)
        made = replace(made, state_ttl=state_ttl)
        self._made = made
        return made

    def _moved(self, call: Aggregate, inputs: list[Typed]) -> Aggregate:
        def place(node: Typed) -> Typed:
            if isinstance(node, Constant):
                return node
            if node not in inputs:
                inputs.append(node)
            index = inputs.index(node)
            return InputRef(node.data_type, index, _name(node, index))

        return Aggregate(
            call.data_type,
            call.function,
            tuple(place(argument) for argument in call.arguments),
            call.distinct,
            None if call.where is None else place(call.where),
            tuple(SortKey(place(key.operand), key.ascending, key.nulls_first) for key in call.order_by),
            call.options,
        )

    def rewrite(self, node: Typed, position: Position | None) -> Typed:
        """The expression over the aggregation's columns; a column outside of keys and aggregates is refused."""
        if node in self._keys:
            return self._reference(self._keys.index(node))
        if isinstance(node, Aggregate):
            return self._reference(len(self._keys) + self._calls.index(node))
        if isinstance(node, OverCall):
            return self._rewrite_over(node, position)
        if isinstance(node, InputRef):
            raise SqlValidationError(
                f"Column {node.name!r} is neither in GROUP BY nor in an aggregate function."
                f" Add it to GROUP BY, or take e.g. MAX({node.name}).",
                position,
            )
        return node.with_children(tuple(self.rewrite(child, position) for child in node.children()))

    def _rewrite_over(self, node: OverCall, position: Position | None) -> Typed:
        moved = Aggregate(
            node.call.data_type,
            node.call.function,
            tuple(self.rewrite(argument, position) for argument in node.call.arguments),
            node.call.distinct,
        )
        keys = tuple(SortKey(self.rewrite(k.operand, position), k.ascending, k.nulls_first) for k in node.order_by)
        partition = tuple(self.rewrite(one, position) for one in node.partition_by)
        return OverCall(node.data_type, moved, partition, keys, node.by_rows, node.lower, node.upper)

    def _reference(self, place: int) -> InputRef:
        field = self._made.fields[place]
        return InputRef(field.data_type, place, field.name, field.time)


def _name(node: Typed, place: int) -> str:
    return node.name if isinstance(node, InputRef) else f"$f{place}"


def _over_window(relation: Relation) -> bool:
    """Whether window columns pass through, so that a grouping by them keeps the time attribute."""
    if isinstance(relation, WindowAssignment):
        return True
    return any(_over_window(source) for source in relation.inputs()[:1])
