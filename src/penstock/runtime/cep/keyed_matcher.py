"""One pattern over all keys of a subtask: the automaton, its state, and the timers that end partial matches."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from penstock.runtime.batch import Batch
from penstock.runtime.cep.automaton import NOTHING, Automaton, Held, Outcome
from penstock.runtime.cep.program import Program
from penstock.runtime.cep.shared_buffer import SharedBuffer
from penstock.runtime.clock import Clock
from penstock.runtime.state.table import ABSENT, DELETED, MapTable, ValueTable
from penstock.runtime.timers import TimerQueue

Found = list[tuple[Any, Outcome]]  # with the key

_PRUNINGS_PER_WINDOW = 4


class KeyedMatcher:
    """Feeds events to the partial matches of their keys."""

    def __init__(
        self,
        program: Program,
        held: ValueTable,
        buffer: MapTable,
        timers: TimerQueue,
        clock: Clock,
        report_timeouts: bool,
        namespace: str | None = None,
    ) -> None:
        self.program = program
        self._held = held
        self._buffer = buffer
        self._timers = timers
        self._namespace = namespace
        self._automaton = Automaton(program, SharedBuffer(buffer), clock, report_timeouts)
        self._bounded = program.bounded
        self._window = program.window
        self._has_gaps = any(state.gap is not None for state in program.states)
        exact = report_timeouts or program.decided_by_time or program.skip.skips or self._has_gaps
        # Where nobody waits for the moment itself, keys share few moments: timers then cost next to nothing.
        self._rounding = 1 if exact else max(1, (program.window or 1) // _PRUNINGS_PER_WINDOW)

    def process(self, batch: Batch) -> Found:
        """Events in time order; what they complete, and what ran out of time before them."""
        found: Found = []
        changes, base = self._held.changes, self._held.base
        assert batch.keys is not None and batch.timestamps is not None
        for key, value, timestamp, begins in zip(
            batch.keys, batch.values, batch.timestamps, self._begins(batch.values), strict=False
        ):
            held = changes.get(key, ABSENT)
            if held is ABSENT:
                held = base.get(key)
            elif held is DELETED:
                held = None
            if held is None:
                # Most keys have no partial match, and most events begin none.
                if begins is not False:
                    self._feed(key, None, value, timestamp, begins, found)
            else:
                self._feed(key, held, value, timestamp, begins, found)
        return found

    def _begins(self, values: list[Any]) -> Any:
        """For each event whether it could begin a match; None where that is not known yet."""
        first = self.program.first_condition
        if first is not None:
            return [bool(fits) for fits in map(self.program.conditions[first].call, values)]
        begins = self.program.begins()
        return repeat(None) if begins is None else [begins(value) or None for value in values]

    def _feed(
        self, key: Any, held: Held | None, value: Any, timestamp: int, begins: bool | None, found: Found
    ) -> None:
        current = held
        if held is not None and self._bounded:
            current, outcomes = self._automaton.advance(key, held, timestamp)
            if outcomes:
                found += [(key, outcome) for outcome in outcomes]
        before = NOTHING if current is None else current
        after, outcomes = self._automaton.process(key, before, value, timestamp, begins)
        if outcomes:
            found += [(key, outcome) for outcome in outcomes]
        if after is not held:
            self._keep(key, after)
            if self._bounded and after is not None:
                self._set_timer(key, before[0], after)

    def _keep(self, key: Any, held: Held | None) -> None:
        if held is None:
            self._held.remove(key)
        else:
            self._held.put(key, held)

    def _set_timer(self, key: Any, event: int, held: Held) -> None:
        """Each first event of partial matches has a timer; where times between events count, each key has one."""
        if self._has_gaps:
            moment = self._automaton.next_deadline(held)
        else:
            assert self._window is not None
            runs = held[1]
            moment = runs[-1][3] + self._window if runs and runs[-1][2] == event else None
        if moment is not None:
            self._timers.add(-(-moment // self._rounding) * self._rounding, (key, self._namespace))

    def advance(self, key: Any, time: int) -> Found:
        """A timer of the key is due."""
        held = self._held.get(key)
        if held is None:
            return []
        after, outcomes = self._automaton.advance(key, held, time)
        if after is not held:
            self._keep(key, after)
        if after is not None and self._has_gaps:
            self._set_timer(key, 0, after)
        return [(key, outcome) for outcome in outcomes]

    def clear(self) -> None:
        """Gives up all partial matches; timers that are left find nothing."""
        for table in (self._held, self._buffer):
            for key in list(table.keys()):
                table.remove(key)

    def sizes(self) -> tuple[int, int]:
        """How many keys have partial matches, and how many entries the shared buffer has."""
        keys = list(self._held.keys())
        return len(keys), sum(len(self._buffer.get(key) or ()) for key in keys)
