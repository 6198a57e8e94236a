"""A compiled pattern: states, and the moves out of each, with all empty steps already taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from penstock.runtime.cep.conditions import Condition
from penstock.runtime.cep.skip_strategy import AfterMatchSkipStrategy

Guard = tuple[tuple[int, bool], ...]  # (number of a condition, what it must say), all of them


class MoveKind(IntEnum):
    TAKE = 0  # the event joins the match
    IGNORE = 1  # the match goes on without it
    STOP = 2  # the event is forbidden: the partial match ends
    COMPLETE = 3  # the event shows that the match is complete without it


class Move(NamedTuple):
    """What a partial match can do with an event for which the guard holds."""

    guard: Guard
    kind: MoveKind
    target: int  # the state after it; NOWHERE when nothing can follow
    stage: int  # under which the event is taken
    finish: tuple[Guard, ...]  # with one of these the match is complete as well
    gap: int | None  # allowed only so many milliseconds after the last event of the match


NOWHERE = -1


@dataclass(frozen=True)
class State:
    moves: tuple[Move, ...]
    gap: int | None  # how long after the match's last event something can still happen
    pending: bool  # complete when time runs out


@dataclass(frozen=True)
class Program:
    """Everything the automaton needs to know of a pattern."""

    names: tuple[str, ...]  # of stages, by number
    conditions: tuple[Condition, ...]
    states: tuple[State, ...]
    start: tuple[Move, ...]
    window: int | None
    skip: AfterMatchSkipStrategy

    @property
    def first_condition(self) -> int | None:
        """The one condition that an event must fulfil to begin a match, if there is just one, and a simple one."""
        if len(self.start) == 1 and len(self.start[0].guard) == 1:
            ((condition, wanted),) = self.start[0].guard
            if wanted and not self.conditions[condition].iterative:
                return condition
        return None

    def begins(self) -> Callable[[Any], bool] | None:
        """Whether an event could begin a match, if that can be said of the event alone."""
        conditions = self.conditions
        guards = [move.guard for move in self.start]
        if any(conditions[number].iterative for guard in guards for number, _ in guard) or not all(guards):
            return None
        calls = [[(conditions[number].call, wanted) for number, wanted in guard] for guard in guards]
        return lambda event: any(all(bool(call(event)) is wanted for call, wanted in guard) for guard in calls)

    def without_fitting(self) -> tuple[bool, ...] | None:
        """For each state whether a partial match goes on as it was after an event that fits no condition at all.

        Otherwise it ends there. None if there are other cases, or conditions for which events alone are not enough.
        """
        if any(condition.iterative for condition in self.conditions) or any(s.gap is not None for s in self.states):
            return None
        stays = []
        for number, state in enumerate(self.states):
            held = [move for move in state.moves if not any(wanted for _, wanted in move.guard)]
            if held and (len(held) > 1 or held[0].kind is not MoveKind.IGNORE or held[0].target != number):
                return None
            stays.append(bool(held))
        return None if any(not any(wanted for _, wanted in move.guard) for move in self.start) else tuple(stays)

    @property
    def bounded(self) -> bool:
        """Whether time ends partial matches at all."""
        return self.window is not None or any(state.gap is not None for state in self.states)

    @property
    def decided_by_time(self) -> bool:
        """Whether the passing of time completes matches."""
        return any(state.pending for state in self.states)
