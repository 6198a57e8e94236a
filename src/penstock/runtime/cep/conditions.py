"""What decides whether an event fits a stage of a pattern, and what it may look at."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from penstock.common.errors import ProgramError


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


class Condition:
    """A user's condition in the one form that the automaton knows: a callable, and whether it wants the context."""

    __slots__ = ("call", "iterative", "parts")

    def __init__(self, call: Callable[..., Any], iterative: bool, parts: tuple[Any, ...] = ()) -> None:
        self.call = call
        self.iterative = iterative
        self.parts = parts  # the user's objects in it, which may want to be opened and closed

    def __reduce__(self) -> Any:
        return Condition, (self.call, self.iterative, self.parts)

    @staticmethod
    def of(given: Any, where: str) -> Condition:
        if isinstance(given, Condition):
            return given
        if isinstance(given, IterativeCondition):
            return Condition(given.filter, True, (given,))
        if isinstance(given, SimpleCondition):
            return Condition(given.filter, False, (given,))
        if not callable(given):
            raise ProgramError(
                f"{where} takes a function of the event, a function of the event and the context, a SimpleCondition "
                f"or an IterativeCondition, got {given!r}"
            )
        return Condition(given, _wants_context(given, where))

    def and_(self, other: Condition) -> Condition:
        return self._joined(_Both if self.iterative or other.iterative else _BothSimple, other)

    def or_(self, other: Condition) -> Condition:
        return self._joined(_Either if self.iterative or other.iterative else _EitherSimple, other)

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
