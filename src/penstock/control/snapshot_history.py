"""What is told about the checkpoints and savepoints of a job, kept in a file so that it outlives the driver.

"What changed" with a snapshot is the number of epochs, of records that the sources have read, and of bytes that the
epochs have added to the job's own recovery log since the snapshot before it. The files of a snapshot hold the whole
state always, because it must not need any other; so their size says how much there is, not how much is new.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from penstock.control.epoch_store import Totals
from penstock.runtime.snapshot_target import SnapshotKind

_REMEMBERED = 100
_VERSION = 1


@dataclass
class HistoryEntry:
    """One snapshot that was begun."""

    id: int
    kind: SnapshotKind
    trigger_ms: int
    status: str = "IN_PROGRESS"  # then COMPLETED or FAILED
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

    @property
    def duration_ms(self) -> int | None:
        return None if self.end_ms is None else self.end_ms - self.trigger_ms


@dataclass
class Restored:
    """Where the job started from, when not from nothing."""

    at_ms: int
    path: str
    id: int | None  # of a checkpoint; savepoints have none that means anything to this job
    epoch: int
    instead_of: list[str] = field(default_factory=list)  # newer checkpoints that were damaged, and how


class SnapshotHistory:
    """Counts of all, the newest hundred in detail."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.entries: deque[HistoryEntry] = deque(maxlen=_REMEMBERED)
        self.restored: Restored | None = None
        self.counts = {"restored": 0, "total": 0, "completed": 0, "failed": 0}
        self.last_number = 0
        self._before = {"epoch": 0, **Totals()._asdict()}  # the totals at the newest complete snapshot
        self._read()

    def began(self, entry: HistoryEntry) -> None:
        self.entries.append(entry)
        self.last_number = max(self.last_number, entry.id)
        self.counts["total"] += 1
        self._write()

    def completed(self, number: int, now: int, facts: dict[str, Any], totals: Totals) -> HistoryEntry:
        """`totals` are those of the job behind the snapshot's epoch: what they were before is known here."""
        before, self._before = self._before, {"epoch": facts["epoch"], **totals._asdict()}
        changes = {
            "epochs_since": facts["epoch"] - before["epoch"],
            "records_since": totals.records - before["records"],
            "changed_bytes": totals.changed_bytes - before["changed_bytes"],
        }
        return self._ended(number, "completed", {"status": "COMPLETED", "end_ms": now, **facts, **changes})

    def failed(self, number: int, now: int, why: str) -> HistoryEntry:
        return self._ended(number, "failed", {"status": "FAILED", "end_ms": now, "failure": why})

    def dropped(self, numbers: list[int]) -> None:
        for entry in self.entries:
            if entry.id in numbers and entry.kind is SnapshotKind.CHECKPOINT:
                entry.discarded = True
        self._write()

    def started_from(self, restored: Restored) -> None:
        self.restored = restored
        self.counts["restored"] += 1
        self._write()

    def describe(self) -> dict[str, Any]:
        """Plain JSON data."""
        entries = [asdict(entry) | {"duration_ms": entry.duration_ms} for entry in self.entries]
        in_progress = sum(entry.status == "IN_PROGRESS" for entry in self.entries)
        restored = None if self.restored is None else asdict(self.restored)
        return {"counts": {**self.counts, "in_progress": in_progress}, "entries": entries, "restored": restored}

    def _ended(self, number: int, outcome: str, facts: dict[str, Any]) -> HistoryEntry:
        entry = next(entry for entry in reversed(self.entries) if entry.id == number)
        for name, value in facts.items():
            setattr(entry, name, value)
        self.counts[outcome] += 1
        self._write()
        return entry

    def _read(self) -> None:
        """What cannot be read is not missed by the job: it is told, and a new history begins."""
        if self._file is None or not self._file.exists():
            return
        try:
            saved = json.loads(self._file.read_text())
            if saved["version"] != _VERSION:
                raise ValueError(f"version {saved['version']}")
            entries = [_entry_of(entry) for entry in saved["entries"]]
            self.restored = None if saved["restored"] is None else Restored(**saved["restored"])
            self.counts = {name: int(saved["counts"][name]) for name in self.counts}
            self.last_number = int(saved["last_number"])
            self._before = {name: int(saved["before"][name]) for name in self._before}
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"penstock: the history of checkpoints in {self._file} is lost: {error!r}", file=sys.stderr)
            return
        self.entries.extend(entries)
        for entry in self.entries:
            if entry.status == "IN_PROGRESS":
                entry.status, entry.failure = "FAILED", "the driver died before it was complete"
                self.counts["failed"] += 1

    def _write(self) -> None:
        """On a full disk the history waits for the next change; the job must not suffer from it."""
        if self._file is None:
            return
        content = {
            "version": _VERSION,
            "counts": self.counts,
            "last_number": self.last_number,
            "before": self._before,
            "restored": None if self.restored is None else asdict(self.restored),
            "entries": [asdict(entry) for entry in self.entries],
        }
        temporary = self._file.with_suffix(".tmp")
        try:
            temporary.write_text(json.dumps(content))
            os.replace(temporary, self._file)
        except OSError as error:
            print(f"penstock: the history of checkpoints was not written: {error}", file=sys.stderr)


def _entry_of(saved: dict[str, Any]) -> HistoryEntry:
    """Older versions wrote whether it was a savepoint."""
    if "savepoint" in saved:
        saved["kind"] = SnapshotKind.SAVEPOINT if saved.pop("savepoint") else SnapshotKind.CHECKPOINT
    return HistoryEntry(**{**saved, "kind": SnapshotKind(saved["kind"])})
