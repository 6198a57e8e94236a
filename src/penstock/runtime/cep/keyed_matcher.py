"""One pattern over all keys of a subtask: the automaton, its state, and the timers that end partial matches."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.runtime.batch import Batch, Codec
from penstock.runtime.cep.automaton import Automaton
from penstock.runtime.cep.conditions import Mask
from penstock.runtime.cep.partial_match import NOTHING, STARTED, Held, Outcome
from penstock.runtime.cep.program import NOWHERE, Move, Program
from penstock.runtime.cep.shared_buffer import SharedBuffer
from penstock.runtime.clock import Clock
from penstock.runtime.key_columns import Integers, keys_of_column, numbered
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
        codec: Codec | None = None,
    ) -> None:
        self.program = program
        self._held = held
        self._buffer = buffer
        self._timers = timers
        self._namespace = namespace
        self._automaton = Automaton(program, SharedBuffer(buffer), clock, report_timeouts)
        self._codec = codec  # of events whose columns conditions are asked for
        self._names = None if codec is None else field_names(codec.type_info)
        self._conditions = program.conditions
        self._in_columns = any(condition.columns is not None for condition in program.conditions)
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
        columns = self._columns(batch) if self._in_columns else None
        known = [None if one.columns is None else one.columns.holds(columns) for one in self._conditions]
        begins = self._begins(batch, known)
        if begins is not None and batch.has_key_column:
            positions = self._that_matter(batch, begins)
            if len(positions) < len(batch):
                batch, begins = batch.take(positions), begins[positions]
                known = [None if mask is None else mask[positions] for mask in known]
        changes, base = self._held.changes, self._held.base
        filtered = begins is not None
        fitting = repeat(None) if begins is None else begins.tolist()
        facts: Iterable[Any] = repeat(None)
        if self._in_columns:
            facts = zip(*(repeat(None) if mask is None else mask.tolist() for mask in known), strict=False)
        assert batch.keys is not None and batch.timestamps is not None
        for key, value, timestamp, fits, told in zip(
            batch.keys, batch.values, batch.timestamps, fitting, facts, strict=False
        ):
            held = changes.get(key, ABSENT)
            if held is ABSENT:
                held = base.get(key)
            elif held is DELETED:
                held = None
            if held is not None:
                self._feed(key, held, value, timestamp, fits, told, reported)
            elif fits or not filtered:
                self._feed_new(key, value, timestamp, told, reported)
        return reported

    def _columns(self, batch: Batch) -> pa.RecordBatch:
        assert self._codec is not None, "such patterns are refused where events have no columns"
        columns: Any = batch.in_columns(self._codec).columns
        return columns if self._names is None else columns.rename_columns(self._names)

    def _begins(self, batch: Batch, known: list[Mask | None]) -> Mask | None:
        """For each event whether it could begin a match, if that can be said of events alone."""
        guards = [move.guard for move in self.program.start]
        if all(guards) and all(known[number] is not None for guard in guards for number, _ in guard):
            masks: list[Mask] = [
                np.logical_and.reduce([known[number] == wanted for number, wanted in guard]) for guard in guards
            ]
            return np.logical_or.reduce(masks)  # type: ignore[no-any-return]
        if any(known[number] is not None for guard in guards for number, _ in guard):
            return None
        first = self.program.first_condition
        begins = self.program.begins() if first is None else self._conditions[first].call
        return None if begins is None else np.fromiter(map(bool, map(begins, batch.values)), np.bool_, len(batch))

    def _that_matter(self, batch: Batch, begins: Mask) -> Integers:
        """Events that begin a match, or come when their key may have one: most keys have none, and most begin none."""
        assert batch.key_column is not None
        codes, distinct = numbered(batch.key_column)
        beginning = np.flatnonzero(begins)
        first = np.full(len(distinct), len(codes), np.int64)
        first[codes[beginning[::-1]]] = beginning[::-1]  # of several assignments the last one stays
        changes, base = self._held.changes, self._held.base
        for number, key in enumerate(keys_of_column(distinct)):
            held = changes.get(key, ABSENT)
            if held is not DELETED and (held is not ABSENT or base.get(key) is not None):
                first[number] = 0
        return np.flatnonzero(np.arange(len(codes)) >= first[codes])

    def _feed_new(self, key: Any, value: Any, timestamp: int, told: Any, reported: Reported) -> None:
        """An event of a key that has nothing yet."""
        only = self._only_begin
        if only is not None:
            run = (only.target, 0, 1, timestamp, timestamp, (only.stage, value))
            after: Held | None = (2, (run,), ())
        else:
            after, outcomes = self._automaton.process(key, NOTHING, value, timestamp, None, told)
            if outcomes:
                reported += [(key, outcome) for outcome in outcomes]
        if after is not None:
            self._held.put(key, after)
            if self._bounded:
                self._set_timer(key, after)

    def _feed(
        self, key: Any, held: Held, value: Any, timestamp: int, begins: bool | None, told: Any, reported: Reported
    ) -> None:
        current: Held | None = held
        if self._has_gaps or (held[1] and timestamp - held[1][0][STARTED] >= self._window):
            current, outcomes = self._automaton.advance(key, held, timestamp)
            if outcomes:
                reported += [(key, outcome) for outcome in outcomes]
        after, outcomes = self._automaton.process(key, current or NOTHING, value, timestamp, begins, told)
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


def field_names(type_info: TypeInformation) -> list[str] | None:
    """By which conditions know the columns of events; None: f0, f1, ..."""
    return list(type_info.get_field_names()) if isinstance(type_info, RowTypeInfo) else None


def _single_begin(program: Program) -> Move | None:
    """The one move with which a match begins, if all it does is to wait for a second event."""
    if program.first_condition is None or program.start[0].finish or program.start[0].target == NOWHERE:
        return None
    return program.start[0]
