"""How patterns are written: stages one after the other, each with its conditions and quantifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn, Self, TypeAlias, overload

from penstock.common.errors import NotSupportedError
from penstock.common.time import Duration, Time
from penstock.functions.window_time import milliseconds_of
from penstock.runtime.cep.conditions import (
    ColumnCondition,
    Condition,
    IterativeCondition,
    SimpleCondition,
    SubtypeCondition,
)
from penstock.runtime.cep.pattern_model import Contiguity, Negation, PatternModel, Stage, WithinType
from penstock.runtime.cep.pattern_rules import MalformedPatternException
from penstock.runtime.cep.skip_strategy import AfterMatchSkipStrategy, NoSkipStrategy

__all__ = ["GroupPattern", "Pattern"]

AnyCondition: TypeAlias = Callable[..., Any] | SimpleCondition | IterativeCondition | ColumnCondition
AnyTime = Time | Duration | timedelta


class Pattern:
    """A sequence of stages that events must go through; the last stage is the one that methods speak of.

    ::

        Pattern.begin("first").where(lambda e: e.kind == "login_failed").times_or_more(3)
            .followed_by("then").where(lambda e: e.kind == "login")
            .within(Time.minutes(5))

    ``next()`` allows no event in between, ``followed_by()`` lets those pass that do not fit, ``followed_by_any()`` lets
    all pass and so finds more matches. See docs/cep.md, which draws all of it.
    """

    def __init__(self, stage: Stage, previous: Pattern | None, skip: AfterMatchSkipStrategy | None = None) -> None:
        self._stage = stage
        self._previous = previous
        before: AfterMatchSkipStrategy = NoSkipStrategy() if previous is None else previous._skip
        self._skip: AfterMatchSkipStrategy = skip or before

    # -- stages ------------------------------------------------------------------------------------------------

    @overload
    @staticmethod
    def begin(name: str, skip_strategy: AfterMatchSkipStrategy | None = None) -> Pattern: ...

    @overload
    @staticmethod
    def begin(name: Pattern, skip_strategy: AfterMatchSkipStrategy | None = None) -> GroupPattern: ...

    @staticmethod
    def begin(name: str | Pattern, skip_strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
        """The first stage, or a pattern as the first group; and what a match does to those that overlap with it."""
        if skip_strategy is not None and not isinstance(skip_strategy, AfterMatchSkipStrategy):
            raise MalformedPatternException(
                "begin() takes a skip strategy such as AfterMatchSkipStrategy.skip_past_last_event(), "
                f"got {skip_strategy!r}"
            )
        return _stage_after(None, name, Contiguity.STRICT, skip_strategy)

    @overload
    def next(self, name: str) -> Pattern: ...

    @overload
    def next(self, name: Pattern) -> GroupPattern: ...

    def next(self, name: str | Pattern) -> Pattern:
        """A stage, or a group, for the very next event."""
        return _stage_after(self, name, Contiguity.STRICT)

    @overload
    def followed_by(self, name: str) -> Pattern: ...

    @overload
    def followed_by(self, name: Pattern) -> GroupPattern: ...

    def followed_by(self, name: str | Pattern) -> Pattern:
        """A stage, or a group, for the next event that fits."""
        return _stage_after(self, name, Contiguity.RELAXED)

    @overload
    def followed_by_any(self, name: str) -> Pattern: ...

    @overload
    def followed_by_any(self, name: Pattern) -> GroupPattern: ...

    def followed_by_any(self, name: str | Pattern) -> Pattern:
        """A stage, or a group, for each later event that fits: every one of them makes a match of its own."""
        return _stage_after(self, name, Contiguity.ANY)

    def not_next(self, name: str) -> Pattern:
        """The very next event must not fit."""
        return self._not(name, Negation.NEXT)

    def not_followed_by(self, name: str) -> Pattern:
        """No event that fits may come before the next stage; at the end of a pattern, before its time is over."""
        return self._not(name, Negation.FOLLOWED_BY)

    def _not(self, name: str, negation: Negation) -> Pattern:
        if self._stage.optional:
            raise NotSupportedError(
                f"a negation cannot come after the optional stage {self._stage.name!r}: it would not be clear from "
                "which event on it counts. Use two patterns, one with the optional part and one without."
            )
        return Pattern(Stage(_checked_name(name), negation=negation), self)

    # -- conditions --------------------------------------------------------------------------------------------

    def where(self, condition: AnyCondition) -> Self:
        """Events of this stage fulfil the condition, and all that were given before.

        A function of the event is a simple condition. A function of the event and the context sees the events matched
        so far, and time: ``where(lambda e, ctx: e.value > ctx.get_events_for_pattern("first")[-1].value)``.
        A :class:`ColumnCondition` or an expression of pyarrow is asked once for many events, where their type is
        declared: ``where(pc.field("value") > 10)``.
        """
        added, known = Condition.of(condition, "where()"), self._stage.condition
        return self._with(condition=added if known is None else known.and_(added))

    def or_(self, condition: AnyCondition) -> Self:
        """Events of this stage fulfil the condition, or what was said before."""
        added, known = Condition.of(condition, "or_()"), self._stage.condition
        return self._with(condition=added if known is None else known.or_(added))

    def subtype(self, subtype_class: type[Any]) -> Self:
        """Events of this stage are instances of the class."""
        if not isinstance(subtype_class, type):
            raise MalformedPatternException(f"subtype() takes a class, got {subtype_class!r}")
        return self.where(SubtypeCondition(subtype_class))

    def until(self, until_condition: AnyCondition) -> Self:
        """An event that fulfils the condition ends the loop of this stage, and is not part of it."""
        if self._stage.until is not None:
            raise MalformedPatternException(f"the stage {self._stage.name!r} has an until() condition already")
        if self._stage.at_most is not None:
            raise MalformedPatternException("until() ends a loop: call one_or_more() or times_or_more() before it")
        return self._with(until=Condition.of(until_condition, "until()"))

    # -- quantifiers -------------------------------------------------------------------------------------------

    def optional(self) -> Self:
        """The stage may be missing."""
        self._refuse_negation("optional()")
        if self._stage.optional:
            raise MalformedPatternException(f"the stage {self._stage.name!r} is optional already")
        return self._with(optional=True)

    def one_or_more(self, window_time: AnyTime | None = None) -> Self:
        """One event or more; a time limits how long each may come after the one before it."""
        return self.times_or_more(1, window_time)

    def times(self, from_: int, to: int | None = None, window_time: AnyTime | None = None) -> Self:
        """So many events, or between so many; a time limits how long each may come after the one before it."""
        most = from_ if to is None else to
        for number in (from_, most):
            if not isinstance(number, int) or isinstance(number, bool):
                raise MalformedPatternException(f"times() takes numbers, got {number!r}")
        if most < 1 or from_ < 0 or most < from_ or (to is None and from_ == 0):
            raise MalformedPatternException(f"times({from_}, {most}) is not a number of events")
        self._quantify("times()", max(from_, 1), most, window_time)
        return self._with(optional=True) if from_ == 0 else self

    def times_or_more(self, times: int, window_time: AnyTime | None = None) -> Self:
        """So many events or more; a time limits how long each may come after the one before it."""
        if not isinstance(times, int) or isinstance(times, bool) or times < 1:
            raise MalformedPatternException(f"times_or_more() takes a number from 1 on, got {times!r}")
        return self._quantify("times_or_more()", times, None, window_time)

    def _quantify(self, what: str, at_least: int, at_most: int | None, window_time: AnyTime | None) -> Self:
        self._refuse_negation(what)
        if self._stage.quantified:
            raise MalformedPatternException(f"the stage {self._stage.name!r} says twice how often it occurs: at {what}")
        gap = None if window_time is None else _milliseconds(window_time, what)
        return self._with(at_least=at_least, at_most=at_most, quantified=True, inner_gap=gap)

    def greedy(self) -> Self:
        """The loop takes what it can: an event that fits it is never left to the next stage."""
        self._refuse_negation("greedy()")
        if self._stage.group:
            raise MalformedPatternException("a group cannot be greedy; its stages can")
        if not self._stage.quantified:
            raise MalformedPatternException("greedy() is said of a loop: call times() or one_or_more() before it")
        return self._with(greedy=True)

    def consecutive(self) -> Self:
        """Nothing may come between the events of the loop."""
        return self._between("consecutive()", Contiguity.STRICT)

    def allow_combinations(self) -> Self:
        """Anything may come between the events of the loop, also events that fit: all choices of them are found."""
        return self._between("allow_combinations()", Contiguity.ANY)

    def _between(self, what: str, inner: Contiguity) -> Self:
        if not self._stage.quantified:
            raise MalformedPatternException(f"{what} is said of a loop: call times() or one_or_more() before it")
        if self._stage.inner is not Contiguity.RELAXED:
            raise MalformedPatternException("either consecutive() or allow_combinations() can be said of a loop, once")
        return self._with(inner=inner)

    # -- time --------------------------------------------------------------------------------------------------

    def within(self, window_time: AnyTime, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Self:
        """The time between the first and the last event of a match is shorter; the shortest that is given counts.

        With ``WithinType.PREVIOUS_AND_CURRENT`` it is the time between an event of this stage and the one before it
        in the match.
        """
        window = _milliseconds(window_time, "within()")
        if within_type is WithinType.FIRST_AND_LAST:
            return self._with(window=window)
        if within_type is not WithinType.PREVIOUS_AND_CURRENT:
            raise MalformedPatternException(f"within() takes a WithinType, got {within_type!r}")
        if self._previous is None and not self._stage.quantified:
            raise MalformedPatternException(
                f"nothing comes before the stage {self._stage.name!r}: WithinType.PREVIOUS_AND_CURRENT has no meaning"
            )
        return self._with(gap=window)

    # -- what it is --------------------------------------------------------------------------------------------

    def get_name(self) -> str:
        """The name of the last stage."""
        return self._stage.name

    def get_previous(self) -> Pattern | None:
        """The pattern without its last stage."""
        return self._previous

    def get_after_match_skip_strategy(self) -> AfterMatchSkipStrategy:
        return self._skip

    def _with(self, **changes: Any) -> Self:
        self._stage = replace(self._stage, **changes)
        return self

    def _refuse_negation(self, what: str) -> None:
        if self._stage.negation is not None:
            raise MalformedPatternException(f"{what} cannot be said of {self._stage.name!r}, which must not occur")

    def _stages(self) -> tuple[Stage, ...]:
        return (*(() if self._previous is None else self._previous._stages()), self._stage)

    def _model(self) -> PatternModel:
        return PatternModel(self._stages(), self._skip)

    def __repr__(self) -> str:
        return f"Pattern({' '.join(stage.name for stage in self._stages())})"


class GroupPattern(Pattern):
    """A pattern as one stage of another; ``begin(pattern)``, ``next(pattern)`` and so on make it."""

    def where(self, condition: AnyCondition) -> NoReturn:
        self._refuse("where()")

    def or_(self, condition: AnyCondition) -> NoReturn:
        self._refuse("or_()")

    def subtype(self, subtype_class: type[Any]) -> NoReturn:
        self._refuse("subtype()")

    def _refuse(self, what: str) -> NoReturn:
        raise NotSupportedError(f"a group has no condition of its own: call {what} on the stages in it")


def _stage_after(
    previous: Pattern | None,
    given: str | Pattern,
    contiguity: Contiguity,
    skip: AfterMatchSkipStrategy | None = None,
) -> Pattern:
    if not isinstance(given, Pattern):
        return Pattern(Stage(_checked_name(given), contiguity), previous, skip)
    if given._skip.skips:
        raise MalformedPatternException(
            f"{given!r} is used as a group but has a skip strategy: it belongs to begin() of the whole pattern"
        )
    stages = given._stages()
    return GroupPattern(Stage(f"group of {stages[0].name}", contiguity, group=stages), previous, skip)


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise MalformedPatternException(f"a stage needs a name, got {name!r}")
    return name


def _milliseconds(given: AnyTime, what: str) -> int:
    if isinstance(given, timedelta):
        given = Duration.of_millis(given // timedelta(milliseconds=1))
    milliseconds = milliseconds_of(given, what)
    if milliseconds <= 0:
        raise MalformedPatternException(f"{what} takes a time longer than nothing, got {given!r}")
    return milliseconds
