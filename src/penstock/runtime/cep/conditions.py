"""What decides whether an event fits a stage of a pattern, and what it may look at."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.common.errors import ProgramError

Mask = npt.NDArray[np.bool_]


class ConditionContext(Protocol):
    """What an iterative condition sees of the partial match that an event may join."""

    def get_events_for_pattern(self, name: str) -> list[Any]:
        """The events that the partial match has under a stage's name, oldest first."""
        ...

    def timestamp(self) -> int:
        """The time of the event in milliseconds; in processing time, the moment at which it came."""
        ...

    def current_processing_time(self) -> int:
        """The clock, in milliseconds."""
        ...


class IterativeCondition(ABC):
    """A condition that also looks at the events matched so far, or at time.

    A function of two arguments does the same::

        class Dearer(IterativeCondition):
            def filter(self, event, ctx):
                return event.price > sum(e.price for e in ctx.get_events_for_pattern("cheap"))
    """

    @abstractmethod
    def filter(self, event: Any, ctx: ConditionContext) -> bool: ...


class SimpleCondition(ABC):
    """A condition on the event alone, which can be tested for many events at once.

    A function of one argument does the same: ``where(lambda event: event.price > 10)``.
    """

    @abstractmethod
    def filter(self, event: Any) -> bool: ...


class ColumnCondition:
    """A condition on the event alone, asked once for many events: what it says of each is a boolean of a column.

    It is a function of the events' columns, or an expression of pyarrow over them, which may also be given as it is::

        where(ColumnCondition(lambda columns: pc.less(columns["amount"], 100)))
        where(pc.field("amount") < 100)

    Columns are called as the fields of the row type that the stream declares, those of tuples ``f0``, ``f1``, ...
    Events that can neither begin nor continue a match then never become Python objects.
    """

    def __init__(self, condition: Callable[[pa.RecordBatch], Any] | pc.Expression) -> None:
        self._condition = condition

    def holds(self, columns: pa.RecordBatch) -> Mask:
        condition = self._condition
        if isinstance(condition, pc.Expression):
            numbered = pa.Table.from_batches([columns]).append_column("", pa.array(np.arange(columns.num_rows)))
            mask = np.zeros(columns.num_rows, np.bool_)
            mask[numbered.filter(condition).column("").to_numpy()] = True
            return mask
        found = condition(columns)
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        if isinstance(found, pa.Array):
            found = found.fill_null(False).to_numpy(zero_copy_only=False)
        found = np.asarray(found)
        if found.dtype != np.bool_ or found.shape != (columns.num_rows,):
            raise ProgramError(
                f"a ColumnCondition gives a boolean for each of the {columns.num_rows} events, got {found!r}"
            )
        return found


class Condition:
    """A user's condition in the one form that the automaton knows: a callable, and whether it wants the context.

    Where a column of events can be asked, `columns` does it.
    """

    __slots__ = ("call", "columns", "iterative", "parts")

    def __init__(
        self, call: Callable[..., Any], iterative: bool, parts: tuple[Any, ...] = (), columns: Any = None
    ) -> None:
        self.call = call
        self.iterative = iterative
        self.parts = parts  # the user's objects in it, which may want to be opened and closed
        self.columns = columns  # has holds(), see ColumnCondition

    def __reduce__(self) -> Any:
        return Condition, (self.call, self.iterative, self.parts, self.columns)

    @staticmethod
    def of(given: Any, where: str) -> Condition:
        if isinstance(given, Condition):
            return given
        if isinstance(given, IterativeCondition):
            return Condition(given.filter, True, (given,))
        if isinstance(given, SimpleCondition):
            return Condition(given.filter, False, (given,))
        if isinstance(given, pc.Expression):
            given = ColumnCondition(given)
        if isinstance(given, ColumnCondition):
            return Condition(_only_in_columns, False, (given,), given)
        if not callable(given):
            raise ProgramError(
                f"{where} takes a function of the event, a function of the event and the context, a SimpleCondition, "
                f"an IterativeCondition, a ColumnCondition or an expression of pyarrow, got {given!r}"
            )
        return Condition(given, _wants_context(given, where))

    def and_(self, other: Condition) -> Condition:
        if self.columns is not None or other.columns is not None:
            return self._joined_columns(np.logical_and, other)
        return self._joined(_Both if self.iterative or other.iterative else _BothSimple, other)

    def or_(self, other: Condition) -> Condition:
        if self.columns is not None or other.columns is not None:
            return self._joined_columns(np.logical_or, other)
        return self._joined(_Either if self.iterative or other.iterative else _EitherSimple, other)

    def _joined_columns(self, how: np.ufunc, other: Condition) -> Condition:
        if self.columns is None or other.columns is None:
            raise ProgramError(
                "the conditions of a stage are either all on columns or all on events: write both as a "
                "ColumnCondition, or both as a function of the event"
            )
        return Condition(_only_in_columns, False, self.parts + other.parts, _Joined(how, self.columns, other.columns))

    def _joined(self, how: Callable[..., Any], other: Condition) -> Condition:
        iterative = self.iterative or other.iterative
        left, right = (self.in_context(), other.in_context()) if iterative else (self.call, other.call)
        return Condition(how(left, right), iterative, self.parts + other.parts)

    def in_context(self) -> Callable[[Any, Any], Any]:
        """The condition as a function of event and context."""
        return self.call if self.iterative else _WithoutContext(self.call)


class SubtypeCondition(SimpleCondition):
    """Events of a class, or of one of its subclasses."""

    def __init__(self, subtype: type[Any]) -> None:
        self._subtype = subtype

    def filter(self, event: Any) -> bool:
        return isinstance(event, self._subtype)


def _wants_context(function: Callable[..., Any], where: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False  # a builtin such as bool, which tests its argument
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if len(needed) == 2:
        return True
    possible = [p for p in parameters if p.kind is not p.KEYWORD_ONLY and p.kind is not p.VAR_KEYWORD]
    if len(needed) > 2 or not possible:
        raise ProgramError(f"{where}: a condition takes the event, or the event and the context; {function!r} does not")
    return False


def _only_in_columns(event: Any) -> bool:
    raise ProgramError(f"a ColumnCondition cannot be asked about a single event, {event!r}")


class _Joined:
    def __init__(self, how: np.ufunc, left: Any, right: Any) -> None:
        self._how, self._left, self._right = how, left, right

    def holds(self, columns: pa.RecordBatch) -> Mask:
        found: Mask = self._how(self._left.holds(columns), self._right.holds(columns))
        return found


class _Pair:
    def __init__(self, left: Callable[..., Any], right: Callable[..., Any]) -> None:
        self.left = left
        self.right = right


class _Both(_Pair):
    def __call__(self, event: Any, ctx: Any) -> bool:
        return bool(self.left(event, ctx) and self.right(event, ctx))


class _Either(_Pair):
    def __call__(self, event: Any, ctx: Any) -> bool:
        return bool(self.left(event, ctx) or self.right(event, ctx))


class _BothSimple(_Pair):
    def __call__(self, event: Any) -> bool:
        return bool(self.left(event) and self.right(event))


class _EitherSimple(_Pair):
    def __call__(self, event: Any) -> bool:
        return bool(self.left(event) or self.right(event))


class _WithoutContext:
    def __init__(self, call: Callable[[Any], Any]) -> None:
        self.call = call

    def __call__(self, event: Any, ctx: Any) -> Any:
        return self.call(event)
