"""Event-time sessions with the default trigger and incremental aggregation, without moving timers per record."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.time_domain import TimeDomain
from penstock.datastream.window_assigners import DynamicEventTimeSessionWindows
from penstock.datastream.window_types import TimeWindow
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.state.table import ABSENT, MapTable

Session = tuple[int, Any]  # end, accumulator


class SessionWindowOperator(WindowedOperator):
    """Start -> session, per key.

    A timer only says when to look at a key again: a session that has grown meanwhile sets the next one then. Flink
    moves the timer with every record that extends a session.
    """

    TABLE = "_sessions"

    folding: Folding

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._assigner = self.settings.assigner
        self._lateness = self.settings.allowed_lateness
        self._table: MapTable = self.backend.table(self.TABLE, MapStateDescriptor)
        self._last_watermark = MIN_TIMESTAMP

    # -- elements ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        base, changes, add = self._table.base, self._table.changes, self.folding.add
        watermark = self.watermark
        timestamps = repeat(MIN_TIMESTAMP, len(batch)) if batch.timestamps is None else batch.timestamps
        assert batch.keys is not None
        for key, value, timestamp, end in zip(batch.keys, batch.values, timestamps, self._ends(batch), strict=True):
            sessions = base.get(key)
            if sessions is not None and len(sessions) == 1:
                # By far the most records extend the only session of their key.
                ((start, (known_end, accumulator)),) = sessions.items()
                if start <= timestamp <= known_end and known_end > watermark + 1:
                    longer = end if end > known_end else known_end
                    sessions[start] = session = (longer, add(value, accumulator))
                    change = changes.get(key)
                    if change is None:
                        changes[key] = (False, {start: session})
                    else:
                        change[1][start] = session
                    continue
            self._add(key, value, timestamp, end)
        self.evaluation.results.flush(True)
        self.late.flush()

    def _ends(self, batch: Batch) -> list[int]:
        """Where a session of each record alone would end."""
        time_of, gap_of = self._assigner._time_of, self._assigner._gap_of
        if batch.timestamps is None or MIN_TIMESTAMP in batch.timestamps:
            time_of(MIN_TIMESTAMP, None)  # refuses, in the assigner's words
        assert batch.timestamps is not None
        if type(self._assigner) is DynamicEventTimeSessionWindows:
            return [t + gap_of(value) for t, value in zip(batch.timestamps, batch.values, strict=True)]
        gap = gap_of(None)
        return [timestamp + gap for timestamp in batch.timestamps]

    def _add(self, key: Any, value: Any, timestamp: int, end: int) -> None:
        sessions = self._table.base.get(key) or {}
        start = timestamp
        touched = sorted(s for s, (known_end, _) in sessions.items() if s <= end and known_end >= timestamp)
        accumulator: Any = ABSENT
        for known_start in touched:
            known_end, part = sessions[known_start]
            start, end = min(start, known_start), max(end, known_end)
            accumulator = part if accumulator is ABSENT else self.folding.merge(accumulator, part)
        if self._expiry(end) <= self.watermark:
            if timestamp + self._lateness <= self.watermark:
                self.late.add(value, timestamp)
            return
        accumulator = self.folding.first(value) if accumulator is ABSENT else self.folding.add(value, accumulator)
        self._table.put(key, start, (end, accumulator))
        for known_start in touched:
            if known_start != start:
                self._table.remove_entry(key, known_start)
        self._look_again(key, end)
        if end - 1 <= self.watermark:
            self._evaluate(key, start, end, accumulator, timestamp)

    def _expiry(self, end: int) -> int:
        return min(end - 1 + self._lateness, MAX_TIMESTAMP)

    # -- time --------------------------------------------------------------------------------------------------

    def _look_again(self, key: Any, end: int) -> None:
        moment = end - 1 if end - 1 > self.watermark else self._expiry(end)
        if moment > self.watermark:
            self.timers.event.add(moment, (key, None))

    def process_watermark(self, timestamp: int) -> None:
        self._last_watermark = self.watermark
        super().process_watermark(timestamp)

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        happenings: list[tuple[int, int, Any, int, Session]] = []
        for key in dict.fromkeys(key for _, (key, _) in due):
            for start, session in (self._table.base.get(key) or {}).items():
                end = session[0]
                if self._last_watermark < end - 1 <= self.watermark:
                    happenings.append((end - 1, len(happenings), key, start, session))
                if self._expiry(end) <= self.watermark:
                    happenings.append((self._expiry(end), len(happenings), key, start, session))
                else:
                    self._look_again(key, end)
        for moment, _, key, start, (end, accumulator) in sorted(happenings, key=lambda happening: happening[:2]):
            if moment == end - 1 and moment > self._last_watermark and start in self._table.base.get(key, ()):
                self._evaluate(key, start, end, accumulator, moment)
                if self._lateness:
                    continue
            self._drop(key, start, end)
        self.evaluation.results.flush(True)

    def _drop(self, key: Any, start: int, end: int) -> None:
        if start in self._table.base.get(key, ()):
            self._table.remove_entry(key, start)
            self.evaluation.clear((key, (start, end)), TimeWindow(start, end))

    def _evaluate(self, key: Any, start: int, end: int, accumulator: Any, timestamp: int) -> None:
        result = (self.folding.result(accumulator),)
        self.evaluation.evaluate((key, (start, end)), TimeWindow(start, end), result, timestamp)
