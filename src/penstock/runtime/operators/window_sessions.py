"""Event-time sessions with the default trigger and incremental aggregation, without moving timers per record."""

from __future__ import annotations

import heapq
from itertools import repeat
from typing import Any

from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.window_assigners import DynamicEventTimeSessionWindows
from penstock.datastream.window_types import TimeWindow
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.state.table import ABSENT, MapTable

Session = tuple[int, Any]  # end, accumulator


class Visits:
    """When to look at which key again; made anew from the sessions after a restart, so it is in no snapshot."""

    def __init__(self) -> None:
        self._keys: dict[int, dict[Any, None]] = {}
        self._moments: list[int] = []

    def add(self, moment: int, key: Any) -> None:
        keys = self._keys.get(moment)
        if keys is None:
            self._keys[moment] = {key: None}
            heapq.heappush(self._moments, moment)
        else:
            keys[key] = None

    def take_next(self, until: int) -> tuple[int, dict[Any, None]] | None:
        if not self._moments or self._moments[0] > until:
            return None
        moment = heapq.heappop(self._moments)
        return moment, self._keys.pop(moment)


class SessionWindowOperator(WindowedOperator):
    """Start -> session, per key.

    A visit of a key finds the sessions that end now; one that has grown meanwhile is visited again at its new end.
    Flink moves a timer with every record that extends a session.
    """

    TABLE = "_sessions"

    folding: Folding

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._assigner = self.settings.assigner
        self._lateness = self.settings.allowed_lateness
        self._table: MapTable = self.backend.table(self.TABLE, MapStateDescriptor)
        self._visits: Visits | None = Visits()

    # -- elements ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        base, changes = self._table.base, self._table.changes
        first, add = self.folding.first, self.folding.add
        watermark, visit = self.watermark, self._planned_visits().add
        timestamps = repeat(MIN_TIMESTAMP, len(batch)) if batch.timestamps is None else batch.timestamps
        assert batch.keys is not None
        for key, value, timestamp, end in zip(batch.keys, batch.values, timestamps, self._ends(batch), strict=True):
            sessions = base.get(key)
            if sessions is None and end - 1 > watermark:
                session = (end, first(value))
                base[key] = {timestamp: session}
                start = timestamp
                visit(end - 1, key)
            elif sessions is not None and len(sessions) == 1:
                # By far the most records extend the only session of their key.
                ((start, (known_end, accumulator)),) = sessions.items()
                if not (start <= timestamp <= known_end and known_end > watermark + 1):
                    self._add(key, value, timestamp, end)
                    continue
                sessions[start] = session = (end if end > known_end else known_end, add(value, accumulator))
            else:
                self._add(key, value, timestamp, end)
                continue
            change = changes.get(key)
            if change is None:
                changes[key] = (False, {start: session})
            else:
                change[1][start] = session
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
        self._visit(key, end)
        if end - 1 <= self.watermark:
            self._evaluate(key, start, end, accumulator, timestamp)

    def _expiry(self, end: int) -> int:
        return min(end - 1 + self._lateness, MAX_TIMESTAMP)

    # -- time --------------------------------------------------------------------------------------------------

    def _planned_visits(self) -> Visits:
        if self._visits is None:
            self._visits = Visits()
            for key, sessions in self._table.base.items():
                for end, _ in sessions.values():
                    self._visit(key, end)
        return self._visits

    def apply_delta(self, delta: Any) -> None:
        super().apply_delta(delta)
        self._visits = None

    def _visit(self, key: Any, end: int) -> None:
        """Plans the next thing that happens to a session: it fires, or its lateness is over."""
        moment = end - 1 if end - 1 > self.watermark else self._expiry(end)
        if moment > self.watermark:
            self._planned_visits().add(moment, key)

    def process_watermark(self, timestamp: int) -> None:
        visits, base = self._planned_visits(), self._table.base
        self.watermark = timestamp
        while due := visits.take_next(timestamp):
            moment, keys = due
            for key in keys:
                for start, (end, accumulator) in list(base.get(key, {}).items()):
                    if end - 1 > moment:
                        visits.add(end - 1, key)
                        continue
                    if end - 1 == moment:
                        self._evaluate(key, start, end, accumulator, moment)
                    expiry = self._expiry(end)
                    if expiry > moment:
                        visits.add(expiry, key)
                    else:
                        self._drop(key, start, end)
        self.evaluation.results.flush(True)
        super().process_watermark(timestamp)

    def _drop(self, key: Any, start: int, end: int) -> None:
        self._table.remove_entry(key, start)
        if self.evaluation.clears:
            self.evaluation.clear((key, (start, end)), TimeWindow(start, end))

    def _evaluate(self, key: Any, start: int, end: int, accumulator: Any, timestamp: int) -> None:
        result = self.folding.result(accumulator)
        evaluation = self.evaluation
        if evaluation.passes_through:
            evaluation.results.values.append(result)
            evaluation.results.timestamps.append(timestamp)
        else:
            evaluation.evaluate((key, (start, end)), TimeWindow(start, end), (result,), timestamp)
