"""From a pattern to its automaton.

The pattern is read from its end: each stage is a *place* to wait in, and knows the place after it. Places that only
choose between others (optional stages, the ends of loops) disappear in the second step, which writes down for every
place what can happen to an event there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from penstock.runtime.cep.conditions import Condition
from penstock.runtime.cep.pattern_model import Contiguity, Negation, PatternModel, Stage, all_stages
from penstock.runtime.cep.pattern_rules import check
from penstock.runtime.cep.program import NOWHERE, Guard, Move, MoveKind, Program, State

Nots = tuple[Guard, ...]  # guards of the events that are forbidden while a match waits
After = Callable[[Nots], "Place"]  # the place after a stage, given what is forbidden there


@dataclass(eq=False)
class Place:
    """Somewhere between the stages: waits for an event, or chooses where to wait."""

    stage: int = NOWHERE
    take: tuple[Guard, Place] | None = None
    ignore: Guard | None = None  # such events are passed over
    stops: Nots = ()
    choices: list[tuple[Guard, Place]] = field(default_factory=list)
    after_event: bool = False  # the choices are open only when one more event has come
    gap: int | None = None
    pending: bool = False
    final: bool = False


def compile_pattern(model: PatternModel) -> Program:
    """The automaton of a pattern; raises MalformedPatternException when it has no meaning."""
    check(model)
    return _Compiler(model).program()


class _Compiler:
    def __init__(self, model: PatternModel) -> None:
        self._model = model
        self._names = [stage.name for stage in all_stages(model.stages)]
        self._stages = {id(stage): number for number, stage in enumerate(all_stages(model.stages))}
        self._conditions: list[Condition] = []
        self._numbers: dict[int, int] = {}
        self._aliases: list[Stage] = []
        self._final = Place(final=True)
        self._until: Guard = ()  # of the group around

    # -- from stages to places ---------------------------------------------------------------------------------

    def program(self) -> Program:
        start = self._sequence(self._model.stages, lambda nots: self._final, ())
        states = _States()
        moves = tuple(move for move in states.moves_of(start) if move.kind is MoveKind.TAKE)
        return Program(
            tuple(self._names),
            tuple(self._conditions),
            tuple(states.finished()),
            moves,
            self._model.window,
            self._model.skip,
        )

    def _sequence(self, stages: tuple[Stage, ...], after: After, nots: Nots, around: Stage | None = None) -> Place:
        """The place before the first of some stages; `around` is the group whose next round they are."""
        if not stages:
            return after(nots)
        stage, rest = stages[0], stages[1:]

        @cache
        def then(still_forbidden: Nots) -> Place:
            return self._sequence(rest, after, still_forbidden)

        if stage.negation is Negation.FOLLOWED_BY:
            forbidden = self._says(stage.condition, True) + self._until
            if not rest and after(()) is self._final:
                return self._pending(stage, (*nots, forbidden))
            return then((*nots, forbidden))
        if stage.negation is Negation.NEXT:
            return self._not_next(stage, then, nots)
        if around is not None:
            contiguity = around.contiguity
            stage = self._alias(stage, replace(stage, contiguity=contiguity, gap=stage.gap or around.gap))
        # While a loop goes on it could be left at any event, so what is forbidden after it is forbidden in it.
        in_loop: Nots = ()
        if rest and rest[0].negation is Negation.FOLLOWED_BY:
            in_loop = (self._says(rest[0].condition, True) + self._until,)
        return self._group(stage, then, nots, in_loop) if stage.group else self._stage(stage, then, nots, in_loop)

    def _alias(self, old: Stage, new: Stage) -> Stage:
        self._stages[id(new)] = self._stages[id(old)]
        self._aliases.append(new)  # so that its id stays its own
        return new

    def _pending(self, stage: Stage, nots: Nots) -> Place:
        return Place(ignore=(), stops=nots, pending=True, gap=stage.gap)

    def _not_next(self, stage: Stage, then: After, nots: Nots) -> Place:
        forbidden = self._says(stage.condition, True)
        choices = [] if stage.condition is None else [(self._says(stage.condition, False), then(nots))]
        return Place(stops=(*nots, forbidden), choices=choices, after_event=True)

    def _stage(self, stage: Stage, then: After, nots: Nots, in_loop: Nots) -> Place:
        leave = self._exit(stage, then(()))
        place = self._rounds(stage, leave, in_loop)
        first = self._wait(stage, stage.contiguity, place, nots, stage.gap, self._until)
        return self._choice(first, self._exit(stage, then(nots))) if stage.optional else first

    def _rounds(self, stage: Stage, leave: Place, in_loop: Nots) -> Place:
        """The place after the first event of a stage."""
        until = self._says_not(stage.until) + self._until
        gap = stage.inner_gap or stage.gap

        def wait(place: Place) -> Place:
            return self._wait(stage, stage.inner, place, in_loop, gap, until)

        if stage.at_most is None:
            place = Place()
            place.choices = [((), wait(place)), (self._until, leave)]
        else:
            place = leave
            for _ in range(stage.at_most - stage.at_least):
                place = self._choice(wait(place), leave)
        for _ in range(stage.at_least - 1):
            place = wait(place)
        return place

    def _wait(
        self, stage: Stage, contiguity: Contiguity, after: Place, nots: Nots, gap: int | None, until: Guard
    ) -> Place:
        fits = self._says(stage.condition, True) + self._says_not(stage.until) + self._until
        ignore: Guard | None = None
        if contiguity is Contiguity.ANY:
            ignore = until
        elif contiguity is Contiguity.RELAXED and stage.condition is not None:
            ignore = self._says(stage.condition, False) + until
        return Place(self._stages[id(stage)], (fits, after), ignore, nots, gap=gap)

    def _exit(self, stage: Stage, place: Place) -> Place:
        """The place after a stage as its own events see it: a greedy stage lets none of them through."""
        varies = stage.optional or stage.at_least != stage.at_most
        if not stage.greedy or not varies or place.final:
            return place
        ways = []
        if stage.condition is not None:  # else every event is its own
            ways.append((self._says_not(stage.until), self._guarded(place, self._says(stage.condition, False))))
        if stage.until is not None:
            ways.append((self._says(stage.until, True), place))
        return ways[0][1] if stage.until is None else Place(choices=ways)

    def _guarded(self, place: Place, guard: Guard) -> Place:
        take = None if place.take is None else (place.take[0] + guard, place.take[1])
        return replace(
            place,
            take=take,
            ignore=None if place.ignore is None else place.ignore + guard,
            stops=tuple(stop + guard for stop in place.stops),
            choices=[(step + guard, target) for step, target in place.choices],
        )

    def _choice(self, wait: Place, leave: Place) -> Place:
        return Place(choices=[((), wait), (self._until, leave)])

    def _group(self, stage: Stage, then: After, nots: Nots, in_loop: Nots) -> Place:
        leave = then(())
        later = replace(stage, contiguity=stage.inner, gap=stage.inner_gap or stage.gap)
        if stage.at_most is None:
            place = Place()
            place.choices = [((), self._round(stage, later, _always(place), in_loop)), ((), leave)]
        else:
            place = leave
            for _ in range(stage.at_most - stage.at_least):
                place = Place(choices=[((), self._round(stage, later, _always(place), in_loop)), ((), leave)])
        for _ in range(stage.at_least - 1):
            place = self._round(stage, later, _always(place), in_loop)
        # If all of its stages are left out, what was forbidden before the group still is.
        first = self._round(stage, stage, lambda still: then(still) if still else place, nots)
        return self._choice(first, then(nots)) if stage.optional else first

    def _round(self, group: Stage, around: Stage, after: After, nots: Nots) -> Place:
        outside, self._until = self._until, self._says_not(group.until)
        try:
            return self._sequence(group.group, after, nots, around)
        finally:
            self._until = outside

    # -- conditions --------------------------------------------------------------------------------------------

    def _says(self, condition: Condition | None, wanted: bool) -> Guard:
        if condition is None:
            return ()
        number = self._numbers.get(id(condition))
        if number is None:
            number = self._numbers[id(condition)] = len(self._conditions)
            self._conditions.append(condition)
        return ((number, wanted),)

    def _says_not(self, condition: Condition | None) -> Guard:
        return self._says(condition, False)


class _States:
    """Numbers the places in which partial matches can be, and writes down their moves."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._places: list[Place] = []
        self._states: list[State] = []

    def finished(self) -> list[State]:
        position = 0
        while position < len(self._places):  # moves of one place lead to further ones
            place = self._places[position]
            moves = tuple(self.moves_of(place))
            gaps = [move.gap for move in moves if move.kind is not MoveKind.STOP]
            known = [gap for gap in gaps if gap is not None]
            gap = max(known) if known and len(known) == len(gaps) else None
            pending = any(reached.pending for _, reached in _reachable(place, ()))
            self._states.append(State(moves, gap, pending))
            position += 1
        return self._states

    def number_of(self, place: Place) -> int:
        if place.final:
            return NOWHERE
        number = self._numbers.get(id(place))
        if number is None:
            number = self._numbers[id(place)] = len(self._places)
            self._places.append(place)
        return number

    def moves_of(self, place: Place) -> list[Move]:
        # Places are kept alive by those that lead to them, so their ids stay their own.
        found: dict[Move, None] = {}
        for guard, reached in _reachable(place, ()):
            for move in self._own_moves(reached):
                merged = _merged(guard, move.guard)
                if merged is not None:
                    found.setdefault(move._replace(guard=merged))
        return list(found)

    def _own_moves(self, place: Place) -> Iterator[Move]:
        if place.take is not None:
            guard, target = place.take
            yield Move(guard, MoveKind.TAKE, self.number_of(target), place.stage, tuple(_finishes(target)), place.gap)
        if place.ignore is not None:
            yield Move(place.ignore, MoveKind.IGNORE, self.number_of(place), place.stage, (), place.gap)
        for stop in place.stops:
            yield Move(stop, MoveKind.STOP, NOWHERE, NOWHERE, (), None)
        if place.after_event:
            for guard, target in place.choices:
                for finish in _finishes(target):
                    yield Move(guard + finish, MoveKind.COMPLETE, NOWHERE, NOWHERE, (), place.gap)


def _always(place: Place) -> After:
    return lambda nots: place


def _reachable(place: Place, seen: tuple[int, ...]) -> Iterator[tuple[Guard, Place]]:
    """The place itself and all that it can choose, with what must hold for that."""
    if id(place) in seen:
        return
    yield (), place
    for guard, target in place.choices:
        for further, reached in _reachable(target, (*seen, id(place))):
            merged = _merged(guard, further)
            if merged is not None:
                yield merged, reached


def _finishes(place: Place, seen: tuple[int, ...] = ()) -> Iterator[Guard]:
    """What must hold so that a match that has come here is complete."""
    if place.final:
        yield ()
    if place.after_event or id(place) in seen:
        return
    for guard, target in place.choices:
        for further in _finishes(target, (*seen, id(place))):
            merged = _merged(guard, further)
            if merged is not None:
                yield merged


def _merged(one: Guard, other: Guard) -> Guard | None:
    """Both guards in one; none if they contradict each other."""
    merged: dict[int, bool] = {}
    for number, wanted in one + other:
        if merged.setdefault(number, wanted) is not wanted:
            return None
    return tuple(merged.items())
