"""When matches leave the automaton: at once or after earlier ones, by an event or by the passing of time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from penstock.runtime.cep.partial_match import (
    FIRST,
    LAST,
    NODE,
    START,
    STARTED,
    STATE,
    Events,
    Found,
    Held,
    Outcome,
    Run,
    Waiting,
    in_order,
    order_of,
)
from penstock.runtime.cep.program import Program
from penstock.runtime.cep.shared_buffer import SharedBuffer, Steps

_start_of_run = itemgetter(START)


class MatchEmission:
    """Skip strategies and deadlines of one pattern."""

    def __init__(self, program: Program, buffer: SharedBuffer, report_timeouts: bool) -> None:
        self._program = program
        self._buffer = buffer
        self._report_timeouts = report_timeouts
        self._skips = program.skip.skips
        self._gaps = tuple(state.gap for state in program.states)
        self._has_gaps = any(gap is not None for gap in self._gaps)

    # -- events of matches -------------------------------------------------------------------------------------

    def steps(self, key: Any, run: Run) -> Steps:
        """The events of a partial match, oldest first."""
        first = run[FIRST]
        return self._buffer.steps(key, run[NODE]) if first is None else [(first[0], run[START], first[1])]

    def store_first(self, key: Any, run: Run, number: int, references: int) -> None:
        """Brings the only event of a partial match to the shared buffer, as others are going to refer to it."""
        assert run[FIRST] is not None
        stage, value = run[FIRST]
        self._buffer.add_event(key, run[START], value, run[STARTED], 1)
        self._buffer.add_node(key, number, stage, run[START], 0, references)

    def outcomes(self, found: list[Found], timestamp: int) -> list[Outcome]:
        """Matches that were completed together, those that began earlier first."""
        if len(found) > 1:
            found = in_order(found)
        return [Outcome(self._named(steps), timestamp, False) for _, steps in found]

    def _named(self, steps: Steps) -> Events:
        names = self._program.names
        events: Events = {}
        for stage, _, value in steps:
            events.setdefault(names[stage], []).append(value)
        return events

    # -- skip strategies ---------------------------------------------------------------------------------------

    def skipping(
        self,
        key: Any,
        free: int,
        runs: list[Run],
        waiting: tuple[Waiting, ...],
        completed: list[Waiting],
        timestamp: int,
    ) -> tuple[Held | None, list[Outcome]]:
        """With a skip strategy a match waits for those that began earlier, and gives others up."""
        outcomes: list[Outcome] = []
        lined_up = self._lined_up(key, list(waiting), completed)
        runs = self._emit_ready(key, runs, lined_up, timestamp, outcomes)
        return _held(free, runs, lined_up), outcomes

    def _lined_up(self, key: Any, waiting: list[Waiting], completed: list[Waiting]) -> list[Waiting]:
        if len(completed) > 1:
            by_order: dict[Any, Waiting] = {}
            for start, node in completed:
                order = order_of((start, self._buffer.steps(key, node)))
                if by_order.setdefault(order, (start, node)) != (start, node):
                    self._buffer.release(key, node)
            completed = [by_order[order] for order in sorted(by_order)]
        return sorted(waiting + completed, key=itemgetter(0))

    def _emit_ready(
        self, key: Any, runs: list[Run], waiting: list[Waiting], timestamp: int, outcomes: list[Outcome]
    ) -> list[Run]:
        """Emits matches that nothing earlier can overtake any more; returns the partial matches that remain."""
        buffer = self._buffer
        while waiting and (not runs or waiting[0][0] <= runs[0][START]):
            _, node = waiting.pop(0)
            steps = buffer.steps(key, node)
            numbers: dict[str, list[int]] = {}
            for stage, number, _ in steps:
                numbers.setdefault(self._program.names[stage], []).append(number)
            first_kept = self._program.skip.first_kept(numbers)
            cut = bisect_left(runs, first_kept, key=_start_of_run)
            for run in runs[:cut]:
                buffer.release(key, run[NODE])
            runs = runs[cut:]
            for given_up in [match for match in waiting if match[0] < first_kept]:
                waiting.remove(given_up)
                buffer.release(key, given_up[1])
            outcomes.append(Outcome(self._named(steps), timestamp, False))
            buffer.release(key, node)
        return runs

    # -- time --------------------------------------------------------------------------------------------------

    def deadline(self, run: Run) -> int | None:
        """When a partial match runs out of time."""
        window, gap = self._program.window, self._gaps[run[STATE]]
        if gap is None:
            return None if window is None else run[STARTED] + window
        return run[LAST] + gap if window is None else min(run[LAST] + gap, run[STARTED] + window)

    def next_deadline(self, held: Held) -> int | None:
        if not self._has_gaps:
            window = self._program.window
            return None if window is None or not held[1] else held[1][0][STARTED] + window
        return min((moment for run in held[1] if (moment := self.deadline(run)) is not None), default=None)

    def advance(self, key: Any, held: Held, timestamp: int) -> tuple[Held | None, Sequence[Outcome]]:
        first = self.next_deadline(held)
        if first is None or first > timestamp:
            return held, ()
        expired: list[tuple[int, Run]] = []
        runs: list[Run] = []
        for run in held[1]:
            moment = self.deadline(run)
            if moment is not None and moment <= timestamp:
                expired.append((moment, run))
            else:
                runs.append(run)
        expired.sort(key=itemgetter(0))
        return _Expiry(self, key, held[0], runs, list(held[2])).all(expired)


class _Expiry:
    """Partial matches of one key run out of time, one moment after the other."""

    def __init__(self, emission: MatchEmission, key: Any, free: int, runs: list[Run], waiting: list[Waiting]) -> None:
        self._emission = emission
        self._buffer = emission._buffer
        self._key = key
        self._free = free
        self._runs = runs
        self._waiting = waiting
        self._outcomes: list[Outcome] = []

    def all(self, expired: list[tuple[int, Run]]) -> tuple[Held | None, list[Outcome]]:
        position = 0
        while position < len(expired):
            moment = expired[position][0]
            over: list[Run] = []
            while position < len(expired) and expired[position][0] == moment:
                over.append(expired[position][1])
                position += 1
            expired = expired[:position] + self._one_moment(moment, over, expired[position:])
        return _held(self._free, self._runs, self._waiting), self._outcomes

    def _one_moment(self, moment: int, over: list[Run], later: list[tuple[int, Run]]) -> list[tuple[int, Run]]:
        """Returns which of those that expire later are still there."""
        emission, states = self._emission, self._emission._program.states
        pending = [run for run in over if states[run[STATE]].pending]
        if emission._skips:
            later = self._skip(moment, pending, later)
        else:
            self._outcomes += emission.outcomes([self._found(run) for run in pending], moment)
            self._release(pending)
        late = [run for run in over if not states[run[STATE]].pending]
        if emission._report_timeouts:
            partial = in_order(self._found(run) for run in late)
            self._outcomes += [Outcome(emission._named(steps), moment, True) for _, steps in partial]
        self._release(late)
        return later

    def _skip(self, moment: int, pending: list[Run], later: list[tuple[int, Run]]) -> list[tuple[int, Run]]:
        if not pending and not self._waiting:
            return later
        emission, key = self._emission, self._key
        self._waiting = emission._lined_up(key, self._waiting, [(run[START], self._node_of(run)) for run in pending])
        there = sorted([*(run for _, run in later), *self._runs], key=_start_of_run)
        left = {run[START] for run in emission._emit_ready(key, there, self._waiting, moment, self._outcomes)}
        self._runs = [run for run in self._runs if run[START] in left]
        return [item for item in later if item[1][START] in left]

    def _node_of(self, run: Run) -> int:
        if run[FIRST] is None:
            return run[NODE]
        number, self._free = self._free, self._free + 1
        self._emission.store_first(self._key, run, number, 1)
        return number

    def _found(self, run: Run) -> Found:
        return run[START], self._emission.steps(self._key, run)

    def _release(self, runs: list[Run]) -> None:
        for run in runs:
            self._buffer.release(self._key, run[NODE])


def _held(free: int, runs: list[Run], waiting: list[Waiting]) -> Held | None:
    return (free, tuple(runs), tuple(waiting)) if runs or waiting else None
