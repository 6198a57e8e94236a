"""What there is to say about the checkpoints and savepoints of a job, kept in a file so that it outlives the driver.

"What changed" with a snapshot is the number of epochs, of records that the sources have read, and of bytes that the
epochs have added to the job's own recovery log since the snapshot before it. The files of a snapshot hold the whole
state always, because it must not need any other; so their size says how much there is, not how much is new.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from penstock.common.json_data import from_json, to_json
from penstock.control.epoch_store import Totals
from penstock.runtime.snapshot_target import SnapshotKind

_REMEMBERED = 100
_VERSION = 1


class SnapshotStatus(Enum):
    IN_PROGRESS = "in progress"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True)
class SavedPart:
    """What one subtask of a level wrote."""

    level: int
    subtask: int
    bytes: int


@dataclass(frozen=True)
class HistoryEntry:
    """One snapshot that was begun."""

    id: int
    kind: SnapshotKind
    trigger_ms: int
    status: SnapshotStatus = SnapshotStatus.IN_PROGRESS
    end_ms: int | None = None
    path: str | None = None
    epoch: int | None = None
    bytes: int | None = None
    subtasks: int | None = None
    epochs_since: int | None = None
    records_since: int | None = None
    changed_bytes: int | None = None
    failure: str | None = None
    discarded: bool = False  # removed by the system, because newer ones are there
    parts: tuple[SavedPart, ...] = ()

    @staticmethod
    def from_older_json(data: Any) -> Any:
        """Older versions wrote whether it was a savepoint."""
        if isinstance(data, dict) and "savepoint" in data:
            return {**data, "kind": "SAVEPOINT" if data["savepoint"] else "CHECKPOINT"}
        return data

    @property
    def duration_ms(self) -> int | None:
        return None if self.end_ms is None else self.end_ms - self.trigger_ms


@dataclass(frozen=True)
class Restored:
    """Where the job started from, when not from nothing."""

    at_ms: int
    path: str
    id: int | None  # of a checkpoint; savepoints have none that means anything to this job
    epoch: int
    instead_of: tuple[str, ...] = ()  # newer checkpoints that were damaged, and how


@dataclass(frozen=True)
class SnapshotCounts:
    """Of all processes of the job."""

    restored: int = 0
    total: int = 0
    completed: int = 0
    failed: int = 0


@dataclass(frozen=True)
class WrittenFacts:
    """What a complete snapshot consists of."""

    epoch: int
    bytes: int
    subtasks: int
    parts: tuple[SavedPart, ...] = ()


@dataclass(frozen=True)
class _Before:
    """The totals at the newest complete snapshot."""

    epoch: int = 0
    records: int = 0
    changed_bytes: int = 0


@dataclass(frozen=True)
class SnapshotOverview:
    """Counts of all, the newest hundred in detail, the oldest first."""

    counts: SnapshotCounts = SnapshotCounts()
    entries: tuple[HistoryEntry, ...] = ()
    restored: Restored | None = None

    @property
    def in_progress(self) -> int:
        return sum(entry.status is SnapshotStatus.IN_PROGRESS for entry in self.entries)

    @property
    def last_savepoint(self) -> str | None:
        complete = (entry for entry in reversed(self.entries) if entry.status is SnapshotStatus.COMPLETED)
        return next((entry.path for entry in complete if entry.kind is SnapshotKind.SAVEPOINT), None)


@dataclass(frozen=True)
class _HistoryFile:
    version: int
    counts: SnapshotCounts
    last_number: int
    before: _Before
    restored: Restored | None = None
    entries: tuple[HistoryEntry, ...] = field(default_factory=tuple)


class SnapshotHistory:
    """Counts of all, the newest hundred in detail."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.entries: deque[HistoryEntry] = deque(maxlen=_REMEMBERED)
        self.restored: Restored | None = None
        self.counts = SnapshotCounts()
        self.last_number = 0
        self._before = _Before()
        self._read()

    def began(self, entry: HistoryEntry) -> None:
        self.entries.append(entry)
        self.last_number = max(self.last_number, entry.id)
        self.counts = replace(self.counts, total=self.counts.total + 1)
        self._write()

    def completed(self, number: int, now: int, facts: WrittenFacts, totals: Totals) -> HistoryEntry:
        """`totals` are those of the job after the snapshot's epoch: what they were before is known here."""
        before, self._before = self._before, _Before(facts.epoch, totals.records, totals.changed_bytes)
        self.counts = replace(self.counts, completed=self.counts.completed + 1)
        return self._change(
            number,
            status=SnapshotStatus.COMPLETED,
            end_ms=now,
            epoch=facts.epoch,
            bytes=facts.bytes,
            subtasks=facts.subtasks,
            parts=facts.parts,
            epochs_since=facts.epoch - before.epoch,
            records_since=totals.records - before.records,
            changed_bytes=totals.changed_bytes - before.changed_bytes,
        )

    def failed(self, number: int, now: int, why: str) -> HistoryEntry:
        self.counts = replace(self.counts, failed=self.counts.failed + 1)
        return self._change(number, status=SnapshotStatus.FAILED, end_ms=now, failure=why)

    def dropped(self, numbers: list[int]) -> None:
        for index, entry in enumerate(self.entries):
            if entry.id in numbers and entry.kind is SnapshotKind.CHECKPOINT:
                self.entries[index] = replace(entry, discarded=True)
        self._write()

    def started_from(self, restored: Restored) -> None:
        self.restored = restored
        self.counts = replace(self.counts, restored=self.counts.restored + 1)
        self._write()

    def describe(self) -> SnapshotOverview:
        return SnapshotOverview(self.counts, tuple(self.entries), self.restored)

    def _change(self, number: int, **facts: Any) -> HistoryEntry:
        index = next(index for index in reversed(range(len(self.entries))) if self.entries[index].id == number)
        self.entries[index] = replace(self.entries[index], **facts)
        self._write()
        return self.entries[index]

    def _read(self) -> None:
        """What cannot be read is not missed by the job: a line on stderr says so, and a new history begins."""
        if self._file is None or not self._file.exists():
            return
        try:
            saved = from_json(_HistoryFile, json.loads(self._file.read_text()))
            if saved.version != _VERSION:
                raise ValueError(f"version {saved.version}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"penstock: the history of checkpoints in {self._file} is lost: {error!r}", file=sys.stderr)
            return
        self.restored, self.last_number, self._before = saved.restored, saved.last_number, saved.before
        lost = [entry.status is SnapshotStatus.IN_PROGRESS for entry in saved.entries]
        self.counts = replace(saved.counts, failed=saved.counts.failed + sum(lost))
        self.entries.extend(
            replace(entry, status=SnapshotStatus.FAILED, failure="the driver died before it was complete")
            if in_progress
            else entry
            for entry, in_progress in zip(saved.entries, lost, strict=True)
        )

    def _write(self) -> None:
        """On a full disk the history waits for the next change; the job must not suffer from it."""
        if self._file is None:
            return
        content = _HistoryFile(
            _VERSION, self.counts, self.last_number, self._before, self.restored, tuple(self.entries)
        )
        temporary = self._file.with_suffix(".tmp")
        try:
            temporary.write_text(json.dumps(to_json(content)))
            os.replace(temporary, self._file)
        except OSError as error:
            print(f"penstock: the history of checkpoints was not written: {error}", file=sys.stderr)
