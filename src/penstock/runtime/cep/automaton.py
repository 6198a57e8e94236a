"""Runs a compiled pattern: what an event makes of the partial matches of its key.

The automaton itself holds nothing of a key between two calls: what a key has is a plain tuple (`Held`) and its part
of the shared buffer, both of which the caller keeps in keyed state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.runtime.cep.condition_view import ConditionView
from penstock.runtime.cep.match_emission import MatchEmission
from penstock.runtime.cep.partial_match import LAST, NODE, START, STARTED, STATE, Found, Held, Outcome, Run, Waiting
from penstock.runtime.cep.program import NOWHERE, Guard, Move, MoveKind, Program
from penstock.runtime.cep.shared_buffer import SharedBuffer, Steps
from penstock.runtime.clock import Clock

_TAKE, _IGNORE, _STOP = MoveKind.TAKE, MoveKind.IGNORE, MoveKind.STOP


class Automaton:
    """One pattern. `report_timeouts` says whether anybody wants to hear of partial matches that ran out of time."""

    def __init__(self, program: Program, buffer: SharedBuffer, clock: Clock, report_timeouts: bool = False) -> None:
        self.program = program
        self._buffer = buffer
        self._moves = tuple(state.moves for state in program.states)
        self._calls: tuple[Callable[..., Any], ...] = tuple(condition.call for condition in program.conditions)
        self._iterative = tuple(condition.iterative for condition in program.conditions)
        self._per_run = tuple(number for number, iterative in enumerate(self._iterative) if iterative)
        self._unknown: list[bool | None] = [None] * len(self._calls)
        self._first_condition = program.first_condition
        self._skips = program.skip.skips
        # With a skip strategy the end of a partial match may set others free.
        self._without_fitting = None if self._skips else program.without_fitting()
        self._emission = MatchEmission(program, buffer, report_timeouts)
        self._view = ConditionView(program.names, self._steps, clock)
        # The event at hand:
        self._key: Any = None
        self._value: Any = None
        self._timestamp = 0
        self._number = self._free = self._uses = 0
        self._facts: list[bool | None] = []
        self._found: list[Found] = []
        self._completed: list[Waiting] = []

    # -- an event ----------------------------------------------------------------------------------------------

    def process(
        self,
        key: Any,
        held: Held,
        value: Any,
        timestamp: int,
        begins: bool | None = None,
        told: Iterable[bool | None] | None = None,
    ) -> tuple[Held | None, Sequence[Outcome]]:
        """What a key has after one more event, and the matches that it completes.

        Time must have been advanced to the event. `begins` says whether it could begin a match, `told` what conditions
        say of it, as far as that is known. None in place of the key's tuple means that nothing is left.
        """
        free, runs, waiting = held
        self._key, self._value, self._timestamp = key, value, timestamp
        self._facts = facts = self._unknown.copy() if told is None else list(told)
        if begins is not None and self._first_condition is not None:
            facts[self._first_condition] = begins
        if self._without_fitting is not None:
            for number, fact in enumerate(facts):
                if fact or (fact is None and self._ask(number)):
                    break
            else:
                return self._nothing_fits(held), ()
        self._number, self._free, self._uses = free, free + 1, 0
        kept: list[Run] = []
        unchanged = True
        for run in runs:
            if not self._step(run, kept):
                unchanged = False
        if begins is not False and self._begin(kept):
            unchanged = False
        if unchanged:
            return (held if runs or waiting else None), ()
        if self._uses:
            self._buffer.add_event(key, free, value, timestamp, self._uses)
        if self._skips:
            completed, self._completed = self._completed, []
            return self._emission.skipping(key, self._free, kept, waiting, completed, timestamp)
        outcomes: Sequence[Outcome] = ()
        if self._found:
            found, self._found = self._found, []
            outcomes = self._emission.outcomes(found, timestamp)
        return ((self._free, tuple(kept), ()) if kept else None), outcomes

    def _nothing_fits(self, held: Held) -> Held | None:
        """The most common case by far has no moves to look for."""
        stays = self._without_fitting
        assert stays is not None
        _, runs, waiting = held
        if all(stays[run[STATE]] for run in runs):
            return held if runs or waiting else None
        for run in runs:
            if run[NODE] and not stays[run[STATE]]:
                self._buffer.release(self._key, run[NODE])
        kept = tuple(run for run in runs if stays[run[STATE]])
        return (held[0], kept, ()) if kept else None

    def advance(self, key: Any, held: Held, timestamp: int) -> tuple[Held | None, Sequence[Outcome]]:
        """What a key has when time has come so far, and what ran out of time or was decided by that."""
        return self._emission.advance(key, held, timestamp)

    def next_deadline(self, held: Held) -> int | None:
        """When the first partial match of a key runs out of time."""
        return self._emission.next_deadline(held)

    def _step(self, run: Run, kept: list[Run]) -> bool:
        """Lets a partial match see the event; whether it is still the same."""
        state = run[STATE]
        holding = self._holding(self._moves[state], run)
        if len(holding) == 1 and holding[0][1] is _IGNORE and holding[0][2] == state:
            kept.append(run)
            return True
        if holding:
            self._follow(holding, run, kept)
        elif run[NODE]:
            self._buffer.release(self._key, run[NODE])
        return False

    def _begin(self, kept: list[Run]) -> bool:
        """Lets the event begin a match; whether it does."""
        holding = self._holding(self.program.start, None)
        now, number = self._timestamp, self._number
        for _, _, target, stage, finish, _ in holding:
            if finish and self._any_holds(finish):
                if self._skips:
                    self._completed.append((number, self._new_node(stage, 0, 1)))
                else:
                    self._found.append((number, [(stage, number, self._value)]))
            if target != NOWHERE:
                kept.append((target, 0, number, now, now, (stage, self._value)))
        return bool(holding)

    def _holding(self, moves: tuple[Move, ...], run: Run | None) -> list[Move]:
        """The moves that are possible now."""
        facts = self._facts
        if self._per_run:
            for number in self._per_run:
                facts[number] = None
            self._view.point_at(run, self._timestamp)
        holding = []
        for move in moves:
            gap = move[5]
            if gap is not None and run is not None and self._timestamp - run[LAST] >= gap:
                continue
            for number, wanted in move[0]:
                fact = facts[number]
                if fact is None:
                    fact = self._ask(number)
                if fact is not wanted:
                    break
            else:
                holding.append(move)
        return holding

    def _ask(self, number: int) -> bool:
        call = self._calls[number]
        fact = bool(call(self._value, self._view) if self._iterative[number] else call(self._value))
        self._facts[number] = fact
        return fact

    def _any_holds(self, guards: Iterable[Guard]) -> bool:
        facts = self._facts
        for guard in guards:
            for number, wanted in guard:
                fact = facts[number]
                if (self._ask(number) if fact is None else fact) is not wanted:
                    break
            else:
                return True
        return False

    # -- moves -------------------------------------------------------------------------------------------------

    def _follow(self, holding: list[Move], run: Run, kept: list[Run]) -> None:
        """Makes the moves of one partial match."""
        stopped = any(move[1] is _STOP for move in holding)
        before = run[NODE]
        children = same = 0  # who refers to the match's node afterwards: nodes, and matches that are where it was
        for _, kind, target, stage, finish, _ in holding:
            if kind is _TAKE:
                uses = self._completes(run, stage, finish)
                goes_on = target != NOWHERE and not stopped
                if uses or goes_on:
                    if before == 0:
                        before, self._free = self._free, self._free + 1
                    children += 1
                    node = self._new_node(stage, before, uses + goes_on)
                    if uses:
                        self._completed.append((run[START], node))
                    if goes_on:
                        kept.append((target, node, run[START], run[STARTED], self._timestamp, None))
            elif kind is _IGNORE:
                if not stopped:
                    same += 1
                    kept.append((target, *run[1:]))
            elif kind is not _STOP:  # complete without the event
                same += self._completes_without(run)
        if run[NODE]:
            self._buffer.retain(self._key, before, children + same - 1)
        elif children:
            self._store_first(run, before, children)

    def _completes(self, run: Run, stage: int, finish: tuple[Guard, ...]) -> int:
        """Notes a match that the event completes; how many waiting matches need a node for it."""
        if not finish or not self._any_holds(finish):
            return 0
        if self._skips:
            return 1
        self._found.append((run[START], [*self._steps(run), (stage, self._number, self._value)]))
        return 0

    def _completes_without(self, run: Run) -> int:
        """Notes a match that is complete without the event; how many refer to the same node for it."""
        if not self._skips:
            self._found.append((run[START], self._steps(run)))
            return 0
        if run[NODE]:
            self._completed.append((run[START], run[NODE]))
            return 1
        number, self._free = self._free, self._free + 1
        self._store_first(run, number, 1)
        self._completed.append((run[START], number))
        return 0

    def _new_node(self, stage: int, before: int, references: int) -> int:
        """A node for the event at hand."""
        number, self._free = self._free, self._free + 1
        self._uses += 1
        self._buffer.add_node(self._key, number, stage, self._number, before, references)
        return number

    def _store_first(self, run: Run, number: int, references: int) -> None:
        self._emission.store_first(self._key, run, number, references)

    def _steps(self, run: Run) -> Steps:
        return self._emission.steps(self._key, run)
