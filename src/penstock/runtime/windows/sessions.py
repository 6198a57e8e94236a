"""Event-time sessions with the default trigger and incremental aggregation, without moving timers per record."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.functions.state_descriptors import ValueStateDescriptor
from penstock.functions.window_assigners import DynamicEventTimeSessionWindows, EventTimeSessionWindows
from penstock.functions.window_types import TimeWindow
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch, Integers
from penstock.runtime.ownership import copied
from penstock.runtime.state.table import ABSENT, DELETED, ValueTable
from penstock.runtime.windows.column_folding import ColumnFolding, Part, keys_in
from penstock.runtime.windows.folding import Folding
from penstock.runtime.windows.saved_contents import ACCUMULATORS, Slot
from penstock.runtime.windows.session_columns import CannotFold, Pieces, SessionColumns
from penstock.runtime.windows.session_table import SessionTable, session_table

if TYPE_CHECKING:
    from penstock.runtime.windows.operator import WindowOperator

Session = tuple[int, int, Any]  # start, end, accumulator


class Visits:
    """When to look at which key again; made again from the sessions after a restart, so it is in no snapshot."""

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


class SessionWindows:
    """Key -> its open sessions: a key with one session has the tuple itself, one with more has a list of them.

    A visit of a key finds the sessions that end now; one that has grown meanwhile is visited again at its new end.
    Flink moves a timer with every record that extends a session.
    """

    form = "sessions"
    takes_slices = False

    def __init__(self, operator: WindowOperator, folding: Folding) -> None:
        self._operator = operator
        self._folding = folding
        self._assigner = operator.settings.assigner
        self._lateness = operator.settings.allowed_lateness
        self._folds = self._column_folding()
        make = session_table(ACCUMULATORS, self._saved, self._folds, lambda accumulator: folding.saved(accumulator)[0])
        self._table: ValueTable = operator.backend.table(ACCUMULATORS, ValueStateDescriptor, make)
        self._columns: SessionColumns | None = None  # None: sessions are always rows
        if isinstance(self._table, SessionTable):
            self._columns = self._table.columns
            self._table.leave_columns = self._leave_columns
        self._visits: Visits | None = Visits()
        self._loaded_at = MIN_TIMESTAMP
        self._loading: dict[Slot, Any] = {}

    def _column_folding(self) -> ColumnFolding | None:
        """None where sessions must be rows: gaps of records, and results that late records change."""
        folds = ColumnFolding.of(self._folding)
        constant = type(self._assigner) is EventTimeSessionWindows
        return folds if folds is not None and folds.merges_exactly and constant and not self._lateness else None

    # -- elements in columns -------------------------------------------------------------------------------------

    def add(self, batch: Batch) -> None:
        part = self._part(batch)
        if part is None:
            self._leave_columns()
            self._add_rows(batch)
            return
        times = batch.times
        assert times is not None
        gap = self._assigner._gap_of(None)
        # A record that comes after its own window can still join a session: for that its place in the order counts.
        late = np.flatnonzero(times + gap - 1 <= self._operator.watermark)
        cuts = np.unique(np.concatenate([[0], late, late + 1, [len(batch)]])).tolist() if len(late) else [0, len(batch)]
        alone = set(late.tolist())
        for start, end in zip(cuts, cuts[1:], strict=False):
            piece = part.slice(start, end - start)
            if start in alone and not self._joins(piece, int(times[start]), gap):
                self._operator.late.add(batch.values[start], int(times[start]))
            elif not self._add_piece(piece, times[start:end], gap):
                self._operator.arrived -= len(batch) - start
                self._add_rows(batch.slice(start, len(batch)))
                return
        self._operator.late.flush()

    def _part(self, batch: Batch) -> Part | None:
        """The batch in columns, if all sessions can be columns with it."""
        if self._columns is None or batch.times is None or bool((batch.times == MIN_TIMESTAMP).any()):
            return None
        assert self._folds is not None
        part = self._folds.part(batch, np.arange(len(batch)) + self._operator.arrived)
        if part is None or not self._columns.fits(part) or not self._enter_columns(part):
            return None
        self._operator.arrived += len(batch)
        return part

    def _joins(self, record: Part, time: int, gap: int) -> bool:
        assert self._columns is not None
        return self._columns.takes_late(keys_in(record), time, gap)

    def _add_piece(self, part: Part, times: Integers, gap: int) -> bool:
        """False if the records have to be rows; all that came before are rows then."""
        assert self._columns is not None
        try:
            self._columns.add(part, times, gap)
        except CannotFold:
            self._leave_columns()
            return False
        try:
            self._columns.settle()
        except CannotFold:
            self._leave_columns()
        return True

    def _enter_columns(self, like: Part) -> bool:
        """Makes columns of the sessions that are rows; False if they have to stay rows."""
        assert self._columns is not None and self._folds is not None
        keys = list(self._table.keys()) if self._table.base or self._table.changes else []
        if len(self._columns) or not keys:
            return True
        found = [(key, session) for key in keys for session in self._sessions(key)]
        part = self._folds.from_lists([key for key, _ in found], [session[2] for _, session in found], like)
        if part is None:
            return False
        starts, ends = (np.array([session[place] for _, session in found], np.int64) for place in (0, 1))
        for key in keys:
            self._table.remove(key)
        self._columns.put(Pieces(part, starts, ends))
        self._visits = Visits()
        return True

    def _leave_columns(self) -> None:
        """Makes rows of all sessions."""
        if self._columns is None or not len(self._columns):
            return
        found = list(self._columns.rows())
        self._columns.clear()
        for key, start, end, accumulator in found:
            sessions = self._sessions(key)
            touched = [session for session in sessions if session[0] <= end and session[1] >= start]
            for known_start, known_end, part in touched:
                start, end = min(start, known_start), max(end, known_end)
                accumulator = self._folding.merge(part, accumulator)
            self._keep(key, [*(session for session in sessions if session not in touched), (start, end, accumulator)])
            self._visit(key, end, self._operator.watermark)

    def _fire_columns(self, watermark: int) -> None:
        if self._columns is None or not len(self._columns):
            return
        try:
            due = self._columns.take_due(watermark)
        except CannotFold:
            self._leave_columns()
            return
        if due is None or not len(due.starts):
            return
        assert self._folds is not None
        if self._operator.evaluation.passes_through:
            self._operator.output.emit(self._folds.results(due.part, due.ends - 1))
            return
        moments = zip(self._folds.entries(due.part), due.starts.tolist(), due.ends.tolist(), strict=True)
        for (key, accumulator), start, end in moments:
            self._evaluate(key, start, end, accumulator, end - 1)
            if self._operator.evaluation.clears:
                self._operator.evaluation.clear((key, (start, end)), TimeWindow(start, end))

    # -- elements in rows ----------------------------------------------------------------------------------------

    def _add_rows(self, batch: Batch) -> None:
        changes, saved = self._table.changes, self._table.base.get
        first, add = self._folding.first_at, self._folding.add_at
        watermark, visit = self._operator.watermark, self._planned_visits().add
        ends = self._ends(batch)
        orders = range(self._operator.arrived, self._operator.arrived + len(batch))
        self._operator.arrived += len(batch)
        assert batch.keys is not None and batch.timestamps is not None
        for key, value, timestamp, end, order in zip(
            batch.keys, batch.values, batch.timestamps, ends, orders, strict=True
        ):
            held = changes.get(key)
            if held is None:
                held = saved(key)
            if held is None or held is DELETED:
                if end - 1 > watermark:
                    changes[key] = (timestamp, end, first(value, order))
                    visit(end - 1, key)
                    continue
            elif type(held) is tuple:
                # By far the most records extend the only session of their key, or begin a second one beside it.
                start, known_end, accumulator = held
                if start <= end and timestamp <= known_end:
                    if known_end - 1 > watermark:
                        changes[key] = (
                            start if start < timestamp else timestamp,
                            end if end > known_end else known_end,
                            add(value, accumulator, order),
                        )
                        continue
                elif end - 1 > watermark:
                    changes[key] = [held, (timestamp, end, first(value, order))]
                    visit(end - 1, key)
                    continue
            self._add(key, value, timestamp, end, order)
        self._operator.evaluation.results.flush(True)
        self._operator.late.flush()

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

    def _add(self, key: Any, value: Any, timestamp: int, end: int, order: int) -> None:
        sessions = self._sessions(key)
        touched = sorted((s for s in sessions if s[0] <= end and s[1] >= timestamp), key=lambda session: session[0])
        start = timestamp
        accumulator: Any = ABSENT
        for known_start, known_end, part in touched:
            start, end = min(start, known_start), max(end, known_end)
            accumulator = part if accumulator is ABSENT else self._folding.merge(accumulator, part)
        if self._expiry(end) <= self._operator.watermark:
            if timestamp + self._lateness <= self._operator.watermark:
                self._operator.late.add(value, timestamp)
            return
        if accumulator is ABSENT:
            accumulator = self._folding.first_at(value, order)
        else:
            accumulator = self._folding.add_at(value, accumulator, order)
        self._keep(key, [*(session for session in sessions if session not in touched), (start, end, accumulator)])
        self._visit(key, end, self._operator.watermark)
        if end - 1 <= self._operator.watermark:
            self._evaluate(key, start, end, accumulator, timestamp)

    def _sessions(self, key: Any) -> list[Session]:
        held = self._table.get(key)
        return [] if held is None else _as_list(held)

    def _keep(self, key: Any, sessions: list[Session]) -> None:
        if sessions:
            self._table.put(key, sessions[0] if len(sessions) == 1 else sessions)
        else:
            self._table.remove(key)

    def _expiry(self, end: int) -> int:
        return min(end - 1 + self._lateness, MAX_TIMESTAMP)

    # -- time --------------------------------------------------------------------------------------------------

    def _planned_visits(self) -> Visits:
        if self._visits is None:
            self._visits = Visits()
            for key, held in self._table.base.items():  # right after a load: nothing has changed yet
                for _, end, _ in _as_list(held):
                    self._visit(key, end, self._loaded_at)
        return self._visits

    def _visit(self, key: Any, end: int, watermark: int) -> None:
        """Plans the next thing that happens to a session: it fires, or its lateness is over."""
        moment = end - 1 if end - 1 > watermark else self._expiry(end)
        if moment > watermark:
            self._planned_visits().add(moment, key)

    def advance(self, watermark: int) -> None:
        self._fire_columns(watermark)
        visits = self._planned_visits()
        get, lateness = self._table.get, self._lateness
        while due := visits.take_next(watermark):
            moment, keys = due
            for key in keys:
                held = get(key)
                if type(held) is tuple and held[1] - 1 >= moment and not lateness:
                    # The only session of its key: it has grown meanwhile, or it ends now.
                    if self._ends_at(moment, key, held, visits):
                        self._table.remove(key)
                    continue
                sessions = self._sessions(key)
                left = [session for session in sessions if not self._ends_at(moment, key, session, visits)]
                if len(left) != len(sessions):
                    self._keep(key, left)
        self._operator.evaluation.results.flush(True)

    def _ends_at(self, moment: int, key: Any, session: Session, visits: Visits) -> bool:
        """What the moment means for a session: it fires, or it is over, or it has grown and is visited later."""
        start, end, accumulator = session
        if end - 1 > moment:
            visits.add(end - 1, key)
            return False
        if end - 1 == moment:
            self._evaluate(key, start, end, accumulator, moment)
        expiry = self._expiry(end)
        if expiry > moment:
            visits.add(expiry, key)
            return False
        if self._operator.evaluation.clears:
            self._operator.evaluation.clear((key, (start, end)), TimeWindow(start, end))
        return True

    def _evaluate(self, key: Any, start: int, end: int, accumulator: Any, timestamp: int) -> None:
        result = self._folding.result(accumulator)
        evaluation = self._operator.evaluation
        if evaluation.passes_through:
            evaluation.results.values.append(copied(result) if self._operator.keeps_given else result)
            evaluation.results.timestamps.append(timestamp)
        else:
            evaluation.evaluate((key, (start, end)), TimeWindow(start, end), (result,), timestamp)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def reloaded(self) -> None:
        # The watermark may have moved when visits are planned, and what fired before it must not fire again.
        self._visits, self._loaded_at = None, self._operator.watermark

    def _saved(self, piece: dict[Any, Any]) -> dict[Slot, Any]:
        """As savepoints have it: by key and window."""
        save = self._folding.saved
        return {
            (key, (start, end)): save(accumulator)[0]
            for key, held in piece.items()
            for start, end, accumulator in _as_list(held)
        }

    def get(self, slot: Slot) -> Any:
        return ABSENT

    def put(self, slot: Slot, content: Any) -> None:
        self._loading[slot] = content

    def put_slice(self, slot: Slot, accumulator: Any) -> None:
        raise AssertionError("sessions have no slices")

    def restored(self, timed: set[Slot], merged: dict[Slot, Any]) -> None:
        for (key, place), accumulator in self._loading.items():
            window: Any = merged.get((key, place), place)
            self._keep(key, [*self._sessions(key), (*window, accumulator)])
            self._visit(key, window[1], self._operator.watermark)
        self._loading = {}


def _as_list(held: Session | list[Session]) -> list[Session]:
    """A key with one session, as most have, holds just that."""
    return [held] if type(held) is tuple else held  # type: ignore[return-value]
