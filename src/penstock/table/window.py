"""Windows of the Table API: Tumble, Slide and Session for groups, Over for rows beside a row."""

from __future__ import annotations

from typing import Any

from penstock.table.expression import Expression
from penstock.table.fluent.literals import node_of
from penstock.table.logical.table_windows import GroupWindowSpec
from penstock.table.syntax import expressions as syntax

__all__ = [
    "GroupWindow", "Over", "OverWindow", "OverWindowPartitioned", "OverWindowPartitionedOrdered",
    "OverWindowPartitionedOrderedPreceding", "Session", "SessionWithGap", "SessionWithGapOnTime", "Slide",
    "SlideWithSize", "SlideWithSizeAndSlide", "SlideWithSizeAndSlideOnTime", "Tumble", "TumbleWithSize",
    "TumbleWithSizeOnTime",
]  # fmt: skip


class GroupWindow:
    """A window with a name, for ``table.window(..)``."""

    def __init__(self, java_window: GroupWindowSpec) -> None:
        self._spec = java_window


class Tumble:
    """Windows of one size, one after the other: ``Tumble.over(lit(10).minutes).on(col("ts")).alias("w")``."""

    @classmethod
    def over(cls, size: Expression[Any]) -> TumbleWithSize:
        return TumbleWithSize(size)


class TumbleWithSize:
    """A tumbling window without its time."""

    def __init__(self, java_window: Expression[Any]) -> None:
        self._size = node_of(java_window)

    def on(self, time_field: Expression[Any]) -> TumbleWithSizeOnTime:
        return TumbleWithSizeOnTime(("TUMBLE", self._size, None, node_of(time_field)))


class _OnTime:
    """A window without its name."""

    def __init__(self, java_window: tuple[str, syntax.Expr, syntax.Expr | None, syntax.Expr]) -> None:
        self._parts = java_window

    def alias(self, alias: str) -> GroupWindow:
        return GroupWindow(GroupWindowSpec(*self._parts, alias))


class TumbleWithSizeOnTime(_OnTime):
    """A tumbling window on a time column."""


class Session:
    """Windows that end after a gap: ``Session.with_gap(lit(10).minutes).on(col("ts")).alias("w")``."""

    @classmethod
    def with_gap(cls, gap: Expression[Any]) -> SessionWithGap:
        return SessionWithGap(gap)


class SessionWithGap:
    """A session window without its time."""

    def __init__(self, java_window: Expression[Any]) -> None:
        self._gap = node_of(java_window)

    def on(self, time_field: Expression[Any]) -> SessionWithGapOnTime:
        return SessionWithGapOnTime(("SESSION", self._gap, None, node_of(time_field)))


class SessionWithGapOnTime(_OnTime):
    """A session window on a time column."""


class Slide:
    """Windows that overlap: ``Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("ts")).alias("w")``."""

    @classmethod
    def over(cls, size: Expression[Any]) -> SlideWithSize:
        return SlideWithSize(size)


class SlideWithSize:
    """A sliding window without its slide."""

    def __init__(self, java_window: Expression[Any]) -> None:
        self._size = node_of(java_window)

    def every(self, slide: Expression[Any]) -> SlideWithSizeAndSlide:
        return SlideWithSizeAndSlide((self._size, node_of(slide)))


class SlideWithSizeAndSlide:
    """A sliding window without its time."""

    def __init__(self, java_window: tuple[syntax.Expr, syntax.Expr]) -> None:
        self._size, self._slide = java_window

    def on(self, time_field: Expression[Any]) -> SlideWithSizeAndSlideOnTime:
        return SlideWithSizeAndSlideOnTime(("HOP", self._size, self._slide, node_of(time_field)))


class SlideWithSizeAndSlideOnTime(_OnTime):
    """A sliding window on a time column."""


class Over:
    """Rows beside a row: ``Over.partition_by(col("a")).order_by(col("ts")).preceding(UNBOUNDED_RANGE).alias("w")``."""

    @classmethod
    def order_by(cls, order_by: Expression[Any]) -> OverWindowPartitionedOrdered:
        return OverWindowPartitionedOrdered(((), _order(order_by)))

    @classmethod
    def partition_by(cls, *partition_by: Expression[Any]) -> OverWindowPartitioned:
        return OverWindowPartitioned(tuple(node_of(one) for one in partition_by))


class OverWindowPartitioned:
    """An OVER window without its order."""

    def __init__(self, java_over_window: tuple[syntax.Expr, ...]) -> None:
        self._partition_by = java_over_window

    def order_by(self, order_by: Expression[Any]) -> OverWindowPartitionedOrdered:
        return OverWindowPartitionedOrdered((self._partition_by, _order(order_by)))


class OverWindowPartitionedOrdered:
    """An OVER window up to the current row, over everything before it."""

    def __init__(self, java_over_window: tuple[tuple[syntax.Expr, ...], syntax.Order]) -> None:
        self._partition_by, self._order = java_over_window

    def alias(self, alias: str) -> OverWindow:
        return OverWindow((alias, syntax.WindowSpec(None, self._partition_by, (self._order,), "RANGE")))

    def preceding(self, preceding: Expression[Any]) -> OverWindowPartitionedOrderedPreceding:
        return OverWindowPartitionedOrderedPreceding((self._partition_by, self._order, preceding))


class OverWindowPartitionedOrderedPreceding:
    """An OVER window with its bounds."""

    def __init__(self, java_over_window: tuple[tuple[syntax.Expr, ...], syntax.Order, Expression[Any]]) -> None:
        self._partition_by, self._order, preceding = java_over_window
        self._unit, self._lower = _bound(preceding, before=True)
        self._upper = syntax.FrameBound("current")

    def alias(self, alias: str) -> OverWindow:
        order = (self._order,)
        spec = syntax.WindowSpec(None, self._partition_by, order, self._unit, self._lower, self._upper)
        return OverWindow((alias, spec))

    def following(self, following: Expression[Any]) -> OverWindowPartitionedOrderedPreceding:
        self._upper = _bound(following, before=False)[1]
        return self


class OverWindow:
    """A window with a name, for ``table.over_window(..)``."""

    def __init__(self, java_over_window: tuple[str, syntax.WindowSpec]) -> None:
        self._alias, self._spec = java_over_window


def _order(expression: Expression[Any]) -> syntax.Order:
    node = node_of(expression)
    return node if isinstance(node, syntax.Order) else syntax.Order(node, nulls_first=False)


def _bound(expression: Expression[Any], before: bool) -> tuple[str, syntax.FrameBound]:
    """The unit of the frame, and its end."""
    node = node_of(expression)
    match node:
        case syntax.Call("unboundedRange" | "UNBOUNDED_RANGE"):
            return "RANGE", syntax.FrameBound("unbounded", before)
        case syntax.Call("unboundedRow" | "UNBOUNDED_ROW"):
            return "ROWS", syntax.FrameBound("unbounded", before)
        case syntax.Call("currentRange" | "CURRENT_RANGE"):
            return "RANGE", syntax.FrameBound("current")
        case syntax.Call("currentRow" | "CURRENT_ROW"):
            return "ROWS", syntax.FrameBound("current")
        case syntax.Call("rowInterval", arguments):
            return "ROWS", syntax.FrameBound("offset", before, arguments[0])
    return "RANGE", syntax.FrameBound("offset", before, node)
