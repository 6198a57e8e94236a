"""Typed expressions: what the plan holds and workers evaluate; plain data, so that it can be pickled and compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar, dataclass_transform

import pyarrow as pa

from penstock.columns.kernels.datum import constant
from penstock.columns.typesystem.base import DataType

# A relational node of penstock.table.logical, which lies above: plans rewrite subqueries before anything is evaluated.
Plan = Any


class TimeAttribute(Enum):
    """What makes a column's time the stream's time."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


_Kind = TypeVar("_Kind", bound=type)
_HASH = "_hash"


@dataclass_transform(frozen_default=True)
def expression(kind: _Kind) -> _Kind:
    """A frozen dataclass whose hash is computed once: for every batch each part of an expression is looked up."""
    made: Any = dataclass(frozen=True)(kind)
    computed: Callable[[Any], int] = made.__hash__

    def remembered(self: Any) -> int:
        known: int | None = self.__dict__.get(_HASH)
        if known is None:
            known = self.__dict__[_HASH] = computed(self)
        return known

    made.__hash__ = remembered
    found: _Kind = made
    return found


@expression
class Typed:
    data_type: DataType

    def children(self) -> tuple[Typed, ...]:
        return ()

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: a hash is that of this process."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


@expression
class InputRef(Typed):
    """A column of the input by position; the name is for people."""

    index: int
    name: str
    time: TimeAttribute | None = None


@expression
class OuterRef(Typed):
    """A column of a query around a subquery; level says how many queries lie between, until outer.py has bound it."""

    index: int
    name: str
    time: TimeAttribute | None = None
    level: int = 1


@expression
class Constant(Typed):
    """A value in the form of plain_values: moments and intervals as whole numbers."""

    value: Any

    @cached_property
    def datum(self) -> pa.Scalar:
        return constant(self.value, self.data_type)


@expression
class Invoke(Typed):
    """A built-in function by Flink's name."""

    function: str
    arguments: tuple[Typed, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def children(self) -> tuple[Typed, ...]:
        return self.arguments

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        return replace(self, arguments=children)


@expression
class Convert(Typed):
    """A cast, asked for or implied; safe gives null in place of a failure."""

    operand: Typed
    safe: bool = False

    def children(self) -> tuple[Typed, ...]:
        return (self.operand,)

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        return replace(self, operand=children[0])


@dataclass(frozen=True)
class SortKey:
    operand: Typed
    ascending: bool = True
    nulls_first: bool = True


@expression
class Aggregate(Typed):
    """A call of an aggregate function, before the plan puts it into an aggregate node."""

    function: str
    arguments: tuple[Typed, ...]
    distinct: bool = False
    where: Typed | None = None
    order_by: tuple[SortKey, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def children(self) -> tuple[Typed, ...]:
        return self.arguments


@dataclass(frozen=True)
class Bound:
    """An end of a window frame; amount is a number of rows or of milliseconds."""

    kind: str
    before: bool = True
    amount: Any = None


@expression
class OverCall(Typed):
    """A function over a window of rows."""

    call: Aggregate
    partition_by: tuple[Typed, ...]
    order_by: tuple[SortKey, ...]
    by_rows: bool = False
    lower: Bound = Bound("unbounded")
    upper: Bound = Bound("current")

    def children(self) -> tuple[Typed, ...]:
        return (*self.call.arguments, *self.partition_by, *(key.operand for key in self.order_by))


@expression
class SubqueryValue(Typed):
    """The single value of a query. The plan's references to outer columns are places in `outer`."""

    plan: Plan
    outer: tuple[Typed, ...] = ()

    def children(self) -> tuple[Typed, ...]:
        return self.outer

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        return replace(self, outer=children)


@expression
class SubqueryTest(Typed):
    """IN, EXISTS, or a quantified comparison; comparison is None for EXISTS."""

    plan: Plan
    operands: tuple[Typed, ...] = ()
    comparison: str | None = None
    every: bool = False
    outer: tuple[Typed, ...] = ()

    def children(self) -> tuple[Typed, ...]:
        return (*self.operands, *self.outer)

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        count = len(self.operands)
        return replace(self, operands=children[:count], outer=children[count:])


def walk(node: Typed) -> list[Typed]:
    """The node and everything below it."""
    found = [node]
    for child in node.children():
        found.extend(walk(child))
    return found


def columns_of(node: Typed) -> set[int]:
    return {part.index for part in walk(node) if isinstance(part, InputRef)}


def shifted(node: Typed, offset: int) -> Typed:
    """The same over an input whose columns begin later."""
    if isinstance(node, InputRef):
        return replace(node, index=node.index + offset)
    return node.with_children(tuple(shifted(child, offset) for child in node.children()))


def time_of(node: Typed) -> TimeAttribute | None:
    """A column keeps being a time attribute only as it is."""
    return node.time if isinstance(node, InputRef) else None
