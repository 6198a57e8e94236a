"""Epochs in this process, without Spark: the same planner, containers and state logs.

An epoch costs milliseconds, and every container can be thrown away between epochs, so that each one has to come back
from its snapshot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from penstock.common.failure import Failure
from penstock.control.engine import AttemptEnd, EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.control.micro_batches import MicroBatches
from penstock.control.work import Work
from penstock.engines.local.memory_store import MemoryStore
from penstock.graph.job_request import JobRequest
from penstock.runtime import hosting
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.exchange import REPORT_CHANNEL, ExchangeRow, edge_of_channel, summons_channel
from penstock.runtime.failure import failure_of
from penstock.runtime.hosting import run_level, run_level_zero
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import SubtaskReport, read_report
from penstock.runtime.state_log import StateLog
from penstock.runtime.summons import NOTHING, Summons, read_summons


class LocalEngine:
    """Computes while it is watched, an epoch at a time."""

    name = "local"

    def __init__(
        self,
        forget: bool = False,
        max_epochs: int = 10_000,
        before_epoch: Callable[[int], None] = lambda number: None,
    ) -> None:
        self._forget = forget
        self._max_epochs = max_epochs
        self._before_epoch = before_epoch
        self._stores: dict[tuple[int, int], MemoryStore] = defaultdict(MemoryStore)
        self.epochs = 0

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment:
        return WorkerEnvironment()

    def open(self, job: EngineJob) -> None:
        self._job = job
        self._batches = MicroBatches(job.planner, job.completion, job.fence, job.tell)
        self._offset = self._batches.initial_offset()

    def start(self, attempt: int) -> None:
        job = self._job.blueprint
        self._blueprint = replace(job, settings=replace(job.settings, attempt=attempt))
        self._blobs = [
            LevelBlob.of(self._blueprint, level, job.settings.job_id, self._job.savepoint)
            for level in range(job.levels)
        ]

    def watch(self, seconds: float) -> AttemptEnd | None:
        try:
            self._run_epoch()
        except Exception as error:
            for store in self._stores.values():
                store.roll_back()
            return AttemptEnd(failure_of(error))
        return None

    def _run_epoch(self) -> None:
        self._before_epoch(self.epochs)
        end = self._batches.latest_offset(self._offset)
        if end == self._offset:
            return
        self.epochs += 1
        assert self.epochs <= self._max_epochs, "the job does not come to an end"
        rows = _level_zero(self._batches.partitions(self._offset, end), self._blobs[0])
        for level in range(1, self._blueprint.levels):
            rows = self._run_level(level, rows)
        self._batches.complete(_reports(rows))
        for store in self._stores.values():
            store.commit()
        self._offset = end
        if self._forget:
            hosting.forget_containers()

    def _run_level(self, level: int, rows: list[ExchangeRow]) -> list[ExchangeRow]:
        own_edges = _edges_into(self._blueprint, level)
        own: dict[int, list[ExchangeRow]] = defaultdict(list)
        passing: list[ExchangeRow] = []
        summons: dict[int, Summons] = {}
        for row in rows:
            if row.channel >= 0 and edge_of_channel(row.channel) in own_edges:
                own[row.subtask].append(row)
            elif row.channel == summons_channel(level):
                summons[row.subtask] = read_summons(row.data)
                own[row.subtask] += []
            else:
                passing.append(row)
        for subtask in sorted(own):
            said = summons.get(subtask, NOTHING)
            if own[subtask] or said.wakes:
                log = StateLog(self._stores[level, subtask])
                passing += run_level(self._blobs[level], subtask, own[subtask], log, said)
        return passing

    def lost(self) -> Failure | None:
        return None

    def stop(self) -> None:
        """Nothing runs between two looks."""

    def close(self) -> None:
        """Nothing is held."""


def _edges_into(job: JobBlueprint, level: int) -> set[int]:
    return {edge.id for edge in job.edges if edge.target_level == level and edge.crosses_levels}


def _level_zero(works: list[Work], blob: LevelBlob) -> list[ExchangeRow]:
    rows: list[ExchangeRow] = []
    for work in works:
        rows += [summons.row(level, subtask) for (level, subtask), summons in work.summons]
        if work.subtask is not None:
            rows += run_level_zero(
                blob,
                work.subtask,
                work.assignments,
                work.snapshot,
                work.note,
                work.union_lists,
                work.committed,
            )
    return rows


def _reports(rows: list[ExchangeRow]) -> list[SubtaskReport]:
    assert all(row.channel == REPORT_CHANNEL for row in rows), "a row passed all levels without being taken"
    return [read_report(row.data) for row in rows]
