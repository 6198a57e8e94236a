"""Files of partitions, and the word that a partition is complete: when the slowest writer is past it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from penstock.connectors.files.commit import FileCommitter, Rename
from penstock.connectors.files.writer import FileSettings
from penstock.functions.sink import CommitterContext, Records, WriterContext
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP
from penstock.table.connectors.partition_commit import PartitionCommit
from penstock.table.connectors.table_file_writer import FileLayout, TableFileWriter


@dataclass(frozen=True)
class Progress:
    """How far a writer is, by watermark or clock, and the partitions that it has begun since it last told."""

    subtask: int
    parallelism: int
    clock: int
    begun: dict[str, int]


class PartitionWriter(TableFileWriter):
    """Finishes the files of partitions that are due, and tells the driver how far it is."""

    def __init__(
        self, settings: FileSettings, context: WriterContext, layout: FileLayout, partitions: PartitionCommit
    ) -> None:
        super().__init__(settings, context, layout)
        self._partitions = partitions
        self._begun: dict[str, int] = {}  # partitions that this writer has files for, and since when
        self._new: dict[str, int] = {}
        self._told: int | None = None
        self._ended = self._tells = False

    def write(self, records: Records) -> None:
        super().write(records)
        now = self._context.current_processing_time()
        for partition in self._open_parts:
            if partition not in self._begun:
                self._begun[partition] = self._new[partition] = now

    def flush(self, end_of_input: bool) -> None:
        super().flush(end_of_input)
        self._ended |= end_of_input
        due = [one for one, since in self._begun.items() if self._is_due(one, since)]
        self._tells |= bool(due)
        for partition in due:
            if partition in self._buckets:
                self._roll(partition)
            del self._begun[partition]

    def _is_due(self, partition: str, since: int) -> bool:
        if self._ended:
            return True
        return self._partitions.due_at(partition, since) < self._clock()

    def _clock(self) -> int:
        by_rows = self._partitions.by_watermark
        return self._context.current_watermark() if by_rows else self._context.current_processing_time()

    def prepare_commit(self) -> list[Any]:
        found = super().prepare_commit()
        clock = MAX_TIMESTAMP if self._ended else self._clock()
        if self._new or self._tells or (self._partitions.by_watermark and clock != self._told):
            found = [*found, Progress(self._context.subtask, self._context.parallelism, clock, self._new)]
            self._new, self._told, self._tells = {}, clock, False
        return found

    def next_wake_up(self) -> int | None:
        moments = [super().next_wake_up()]
        if not self._partitions.by_watermark:
            moments += [self._partitions.due_at(one, since) + 1 for one, since in self._begun.items()]
        return min((moment for moment in moments if moment is not None), default=None)

    def wake_up(self, now: int) -> None:
        if self._next_check is not None and now >= self._next_check:
            super().wake_up(now)

    def snapshot_state(self) -> Any:
        return super().snapshot_state(), dict(self._begun)

    def restore_state(self, states: list[Any]) -> None:
        super().restore_state([state for state, _ in states if state is not None])
        for _, begun in states:
            self._begun.update(begun)
            self._new.update(begun)


class PartitionCommitter(FileCommitter):
    """Partitions that wait are in a hidden file of the table: it outlives the job, whose savepoint goes on with it."""

    def __init__(self, base_path: str, context: CommitterContext, partitions: PartitionCommit) -> None:
        super().__init__(base_path, context.job_id)
        self._partitions = partitions
        self._notes = f".partitions-{context.operator_uid}.json"

    def open(self) -> None:
        self._waiting: dict[str, int] = {}
        self._clocks: dict[str, int] = {}
        if self._store.exists(self._notes):
            notes = json.loads(self._store.read(self._notes))
            self._waiting = notes["waiting"]
            if notes["job"] == self._job_id:  # one from a savepoint may begin where the other was not yet
                self._clocks = notes["clocks"]

    def commit(self, epoch: int, committables: list[Any]) -> None:
        super().commit(epoch, [one for one in committables if isinstance(one, Rename)])
        reports = [one for one in committables if isinstance(one, Progress)]
        for report in reports:
            for partition, since in report.begun.items():
                self._waiting[partition] = min(since, self._waiting.get(partition, since))
            if len(self._clocks) != report.parallelism:
                self._clocks = {str(subtask): MIN_TIMESTAMP for subtask in range(report.parallelism)}
            self._clocks[str(report.subtask)] = report.clock
        if not reports:
            return
        for partition in [one for one, since in self._waiting.items() if self._is_due(one, since)]:
            self._store.write(f"{partition}/{self._partitions.success_file}", b"")
            del self._waiting[partition]
        notes = {"job": self._job_id, "waiting": self._waiting, "clocks": self._clocks}
        self._store.write(self._notes, json.dumps(notes).encode())

    def _is_due(self, partition: str, since: int) -> bool:
        clock = min(self._clocks.values()) if self._partitions.by_watermark else max(self._clocks.values())
        return self._partitions.due_at(partition, since) < clock

    def sweep(self) -> None:
        super().sweep()
        if not self._waiting and self._store.exists(self._notes):
            self._store.delete(self._notes)
