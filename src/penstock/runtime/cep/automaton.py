"""Runs a compiled pattern: partial matches of one key, and what an event or the passing of time makes of them.

The automaton itself holds nothing of a key between two calls: what a key has is a plain tuple (`Held`) and its part
of the shared buffer, both of which the caller keeps in keyed state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from penstock.runtime.cep.condition_view import ConditionView
from penstock.runtime.cep.program import NOWHERE, Guard, Move, MoveKind, Program
from penstock.runtime.cep.shared_buffer import SharedBuffer, Steps
from penstock.runtime.clock import Clock

# A partial match: state, last node, number of its first event, time of its first event, time of its last event.
Run = tuple[int, int, int, int, int]
# A complete match that waits because one that began earlier may still come: number of its first event, last node.
Waiting = tuple[int, int]
# What a key has: the next free number, partial matches by their first events, matches that wait.
Held = tuple[int, tuple[Run, ...], tuple[Waiting, ...]]

Events = dict[str, list[Any]]
NOTHING: Held = (1, (), ())
_TAKE, _IGNORE, _STOP = MoveKind.TAKE, MoveKind.IGNORE, MoveKind.STOP
_first_event = itemgetter(2)  # of a run


class Outcome(NamedTuple):
    """A match, or a partial one that ran out of time."""

    events: Events
    timestamp: int
    timed_out: bool


class Automaton:
    """One pattern. `report_timeouts` says whether anybody wants to hear of partial matches that ran out of time."""

    def __init__(self, program: Program, buffer: SharedBuffer, clock: Clock, report_timeouts: bool = False) -> None:
        self.program = program
        self._buffer = buffer
        self._report_timeouts = report_timeouts
        self._moves = tuple(state.moves for state in program.states)
        self._gaps = tuple(state.gap for state in program.states)
        self._has_gaps = any(gap is not None for gap in self._gaps)
        self._calls: tuple[Callable[..., Any], ...] = tuple(condition.call for condition in program.conditions)
        self._iterative = tuple(condition.iterative for condition in program.conditions)
        self._per_run = tuple(number for number, iterative in enumerate(self._iterative) if iterative)
        self._unknown: list[bool | None] = [None] * len(self._calls)
        self._first_condition = program.first_condition
        self._skips = program.skip.skips
        self._view = ConditionView(buffer, program.names, clock)
        # The event at hand:
        self._key: Any = None
        self._value: Any = None
        self._timestamp = 0
        self._number = self._free = self._uses = 0
        self._facts: list[bool | None] = []
        self._found: list[tuple[int, Steps]] = []
        self._completed: list[Waiting] = []

    # -- an event ----------------------------------------------------------------------------------------------

    def process(
        self, key: Any, held: Held, value: Any, timestamp: int, begins: bool | None = None
    ) -> tuple[Held | None, Sequence[Outcome]]:
        """What a key has after one more event, and the matches that it completes.

        Time must have been advanced to the event. `begins` is the first condition's word on it, if that is known.
        None in place of the key's tuple means that nothing is left.
        """
        free, runs, waiting = held
        self._key, self._value, self._timestamp = key, value, timestamp
        self._number, self._free, self._uses = free, free + 1, 0
        self._facts = self._unknown.copy()
        if begins is not None and self._first_condition is not None:
            self._facts[self._first_condition] = begins
        kept: list[Run] = []
        unchanged = True
        for run in runs:
            unchanged = self._step(run, kept) and unchanged
        self._begin(kept)
        if self._uses:
            self._buffer.add_event(key, free, value, timestamp, self._uses)
        elif unchanged and not self._found:
            return (held if runs or waiting else None), ()
        else:
            self._free = free
        if self._skips:
            return self._skipping(kept, waiting)
        outcomes = self._taken_matches() if self._found else ()
        return ((self._free, tuple(kept), ()) if kept else None), outcomes

    def _step(self, run: Run, kept: list[Run]) -> bool:
        """Lets a partial match see the event; whether it is still the same."""
        state, node, start, started, last = run
        holding = self._holding(self._moves[state], node, last)
        if len(holding) == 1 and holding[0][1] is _IGNORE and holding[0][2] == state:
            kept.append(run)
            return True
        references = self._follow(holding, node, start, started, last, kept)
        self._buffer.retain(self._key, node, references - 1)
        return False

    def _begin(self, kept: list[Run]) -> None:
        holding = self._holding(self.program.start, 0, None)
        if holding:
            self._follow(holding, 0, self._number, self._timestamp, self._timestamp, kept)

    def _holding(self, moves: tuple[Move, ...], node: int, last: int | None) -> list[Move]:
        """The moves that are possible now."""
        facts = self._facts
        if self._per_run:
            for number in self._per_run:
                facts[number] = None
            self._view.point_at(self._key, node, self._timestamp)
        holding = []
        for move in moves:
            gap = move[5]
            if gap is not None and last is not None and self._timestamp - last >= gap:
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

    def _follow(
        self, holding: list[Move], node: int, start: int, started: int, last: int, kept: list[Run]
    ) -> int:
        """Makes the moves of one partial match; returns how many of its successors refer to its node."""
        stopped = any(move[1] is _STOP for move in holding)
        references = 0
        for _, kind, target, stage, finish, _ in holding:
            if kind is _TAKE:
                complete = bool(finish) and self._any_holds(finish)
                goes_on = target != NOWHERE and not stopped
                if complete and not self._skips:
                    self._find(start, node, stage)
                uses = goes_on + (complete and self._skips)
                if uses:
                    self._free, new = self._free + 1, self._free
                    self._uses += 1
                    references += 1
                    self._buffer.add_node(self._key, new, stage, self._number, node, uses)
                    if goes_on:
                        kept.append((target, new, start, started, self._timestamp))
                    if complete and self._skips:
                        self._completed.append((start, new))
            elif kind is _IGNORE:
                if not stopped:
                    references += 1
                    kept.append((target, node, start, started, last))
            elif kind is not _STOP:  # complete without the event
                if self._skips:
                    references += 1
                    self._completed.append((start, node))
                else:
                    self._find(start, node, NOWHERE)
        return references

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

    # -- matches -----------------------------------------------------------------------------------------------

    def _find(self, start: int, node: int, stage: int) -> None:
        steps = self._buffer.steps(self._key, node)
        if stage != NOWHERE:
            steps.append((stage, self._number, self._value))
        self._found.append((start, steps))

    def _taken_matches(self) -> list[Outcome]:
        """All matches that the event has completed, those that began earlier first."""
        found, self._found = self._found, []
        if len(found) > 1:
            found = _in_order(found)
        return [Outcome(self._named(steps), self._timestamp, False) for _, steps in found]

    def _skipping(self, kept: list[Run], waiting: tuple[Waiting, ...]) -> tuple[Held | None, list[Outcome]]:
        """With a skip strategy a match waits for those that began earlier, and gives others up."""
        outcomes: list[Outcome] = []
        remaining = list(waiting)
        if self._completed:
            completed, self._completed = self._completed, []
            remaining = self._lined_up(remaining, completed)
        kept = self._emit_ready(kept, remaining, self._timestamp, outcomes)
        return self._held(kept, remaining), outcomes

    def _lined_up(self, waiting: list[Waiting], completed: list[Waiting]) -> list[Waiting]:
        if len(completed) > 1:
            by_steps: dict[Any, Waiting] = {}
            for start, node in completed:
                order = _order((start, self._buffer.steps(self._key, node)))
                if by_steps.setdefault(order, (start, node)) != (start, node):
                    self._buffer.release(self._key, node)
            completed = [by_steps[order] for order in sorted(by_steps)]
        return sorted(waiting + completed, key=itemgetter(0))

    def _emit_ready(
        self, runs: list[Run], waiting: list[Waiting], timestamp: int, outcomes: list[Outcome]
    ) -> list[Run]:
        """Emits matches that nothing earlier can overtake any more; returns the partial matches that remain."""
        key, buffer = self._key, self._buffer
        while waiting and (not runs or waiting[0][0] <= runs[0][2]):
            _, node = waiting.pop(0)
            steps = buffer.steps(key, node)
            numbers: dict[str, list[int]] = {}
            for stage, number, _ in steps:
                numbers.setdefault(self.program.names[stage], []).append(number)
            first_kept = self.program.skip.first_kept(numbers)
            cut = bisect_left(runs, first_kept, key=_first_event)
            for run in runs[:cut]:
                buffer.release(key, run[1])
            runs = runs[cut:]
            for start, other in [match for match in waiting if match[0] < first_kept]:
                waiting.remove((start, other))
                buffer.release(key, other)
            outcomes.append(Outcome(self._named(steps), timestamp, False))
            buffer.release(key, node)
        return runs

    def _held(self, runs: list[Run], waiting: list[Waiting]) -> Held | None:
        return (self._free, tuple(runs), tuple(waiting)) if runs or waiting else None

    def _named(self, steps: Steps) -> Events:
        names = self.program.names
        events: Events = {}
        for stage, _, value in steps:
            events.setdefault(names[stage], []).append(value)
        return events

    # -- time --------------------------------------------------------------------------------------------------

    def deadline(self, run: Run) -> int | None:
        """When a partial match runs out of time."""
        window, gap = self.program.window, self._gaps[run[0]]
        if gap is None:
            return None if window is None else run[3] + window
        return run[4] + gap if window is None else min(run[4] + gap, run[3] + window)

    def next_deadline(self, held: Held) -> int | None:
        """When the first partial match of a key runs out of time."""
        window = self.program.window
        if not self._has_gaps:
            return None if window is None or not held[1] else held[1][0][3] + window
        return min((moment for run in held[1] if (moment := self.deadline(run)) is not None), default=None)

    def advance(self, key: Any, held: Held, timestamp: int) -> tuple[Held | None, Sequence[Outcome]]:
        """What a key has when time has come so far, and what ran out of time or was decided by that."""
        first = self.next_deadline(held)
        if first is None or first > timestamp:
            return held, ()
        self._key, self._free = key, held[0]
        outcomes: list[Outcome] = []
        expired: list[tuple[int, Run]] = []
        runs: list[Run] = []
        for run in held[1]:
            moment = self.deadline(run)
            if moment is not None and moment <= timestamp:
                expired.append((moment, run))
            else:
                runs.append(run)
        waiting = self._expire(sorted(expired, key=itemgetter(0)), runs, list(held[2]), outcomes)
        return self._held(runs, waiting), outcomes

    def _expire(
        self, expired: list[tuple[int, Run]], runs: list[Run], waiting: list[Waiting], outcomes: list[Outcome]
    ) -> list[Waiting]:
        position = 0
        while position < len(expired):
            moment = expired[position][0]
            now = []
            while position < len(expired) and expired[position][0] == moment:
                now.append(expired[position][1])
                position += 1
            pending = [(run[2], run[1]) for run in now if self.program.states[run[0]].pending]
            over = [run for run in now if not self.program.states[run[0]].pending]
            if self._skips and (waiting or pending):
                waiting = self._lined_up(waiting, pending)
                still = sorted([*(run for _, run in expired[position:]), *runs], key=_first_event)
                left = {run[1] for run in self._emit_ready(still, waiting, moment, outcomes)}
                expired = expired[:position] + [item for item in expired[position:] if item[1][1] in left]
                runs[:] = [run for run in runs if run[1] in left]
            else:
                matches = _in_order([(start, self._buffer.steps(self._key, node)) for start, node in pending])
                outcomes += [Outcome(self._named(steps), moment, False) for _, steps in matches]
                for _, node in pending:
                    self._buffer.release(self._key, node)
            self._report(over, moment, outcomes)
        return waiting

    def _report(self, over: list[Run], moment: int, outcomes: list[Outcome]) -> None:
        partial = [(run[2], self._buffer.steps(self._key, run[1])) for run in over] if self._report_timeouts else []
        outcomes += [Outcome(self._named(steps), moment, True) for _, steps in _in_order(partial)]
        for run in over:
            self._buffer.release(self._key, run[1])


def _order(match: tuple[int, Steps]) -> tuple[Any, ...]:
    """By the first event; then those that took events earlier, and for earlier stages."""
    start, steps = match
    return start, *((number, stage) for stage, number, _ in steps)


def _in_order(matches: list[tuple[int, Steps]]) -> list[tuple[int, Steps]]:
    """Each match once, though nested loops may lead to it in several ways."""
    by_order = {_order(match): match for match in matches}
    return [by_order[order] for order in sorted(by_order)]
