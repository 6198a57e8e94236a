"""One pattern over all keys of a subtask: the automaton, its state, and the timers that end partial matches."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from penstock.runtime.batch import Batch
from penstock.runtime.cep.automaton import Automaton
from penstock.runtime.cep.partial_match import NOTHING, STARTED, Held, Outcome
from penstock.runtime.cep.program import NOWHERE, Move, Program
from penstock.runtime.cep.shared_buffer import SharedBuffer
from penstock.runtime.clock import Clock
from penstock.runtime.state.table import ABSENT, DELETED, MapTable, ValueTable
from penstock.runtime.timers import TimerQueue

Reported = list[tuple[Any, Outcome]]  # with the key

_PRUNINGS_PER_WINDOW = 4
_NEVER = 1 << 63


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
        self._has_gaps = any(state.gap is not None for state in program.states)
        self._window = _NEVER if program.window is None else program.window
        self._only_begin = _single_begin(program)
        exact = report_timeouts or program.decided_by_time or program.skip.skips or self._has_gaps
        # Where nobody waits for the moment itself, keys share few moments: timers then cost next to nothing.
        self._rounding = 1 if exact else max(1, (program.window or 1) // _PRUNINGS_PER_WINDOW)

    def process(self, batch: Batch) -> Reported:
        """Events in time order; what they complete, and what ran out of time before them."""
        reported: Reported = []
        changes, base = self._held.changes, self._held.base
        begins = self._begins(batch.values)
        filtered = begins is not None
        assert batch.keys is not None and batch.timestamps is not None
        # The filter over all events comes first: most keys have no partial match, and most events begin none.
        for key, value, timestamp, fits in zip(
            batch.keys, batch.values, batch.timestamps, begins or repeat(None), strict=False
        ):
            held = changes.get(key, ABSENT)
            if held is ABSENT:
                held = base.get(key)
            elif held is DELETED:
                held = None
            if held is not None:
                self._feed(key, held, value, timestamp, bool(fits) if filtered else None, reported)
            elif fits or not filtered:
                self._feed_new(key, value, timestamp, reported)
        return reported

    def _begins(self, values: list[Any]) -> list[Any] | None:
        """For each event whether it could begin a match, if that can be said of events alone."""
        first = self.program.first_condition
        if first is not None:
            return list(map(self.program.conditions[first].call, values))
        begins = self.program.begins()
        return None if begins is None else list(map(begins, values))

    def _feed_new(self, key: Any, value: Any, timestamp: int, reported: Reported) -> None:
        """An event of a key that has nothing yet."""
        only = self._only_begin
        if only is not None:
            run = (only.target, 0, 1, timestamp, timestamp, (only.stage, value))
            after: Held | None = (2, (run,), ())
        else:
            after, outcomes = self._automaton.process(key, NOTHING, value, timestamp)
            if outcomes:
                reported += [(key, outcome) for outcome in outcomes]
        if after is not None:
            self._held.put(key, after)
            if self._bounded:
                self._set_timer(key, after)

    def _feed(self, key: Any, held: Held, value: Any, timestamp: int, begins: bool | None, reported: Reported) -> None:
        current: Held | None = held
        if self._has_gaps or (held[1] and timestamp - held[1][0][STARTED] >= self._window):
            current, outcomes = self._automaton.advance(key, held, timestamp)
            if outcomes:
                reported += [(key, outcome) for outcome in outcomes]
        after, outcomes = self._automaton.process(key, current or NOTHING, value, timestamp, begins)
        if outcomes:
            reported += [(key, outcome) for outcome in outcomes]
        if after is not held:
            self._keep(key, after)
            if after is not None and self._bounded and (self._has_gaps or not current):
                self._set_timer(key, after)

    def _keep(self, key: Any, held: Held | None) -> None:
        if held is None:
            self._held.remove(key)
        else:
            self._held.put(key, held)

    def _set_timer(self, key: Any, held: Held) -> None:
        """When a key gets its first partial match; after that each timer sets the next one.

        Later ones end later, except where times between events count.
        """
        moment = self._automaton.next_deadline(held)
        if moment is not None:
            self._timers.add(-(-moment // self._rounding) * self._rounding, (key, self._namespace))

    def advance(self, key: Any, time: int) -> Reported:
        """A timer of the key is due."""
        held = self._held.get(key)
        if held is None:
            return []
        after, outcomes = self._automaton.advance(key, held, time)
        if after is not held:
            self._keep(key, after)
        if after is not None:
            self._set_timer(key, after)
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


def _single_begin(program: Program) -> Move | None:
    """The one move with which a match begins, if all it does is to wait for a second event."""
    if program.first_condition is None or program.start[0].finish or program.start[0].target == NOWHERE:
        return None
    return program.start[0]
