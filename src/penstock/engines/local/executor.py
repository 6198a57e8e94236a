"""Runs a whole job in this process, without Spark: the same coordinator, containers and state logs.

For tests of programs: an epoch costs milliseconds, the size of epochs is chosen, and every container can be thrown away
between epochs, so that each one has to come back from its snapshot.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from penstock.common.configuration import Configuration
from penstock.common.errors import JobExecutionError, NotSupportedError
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.common.state_backend_names import max_state_size
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.coordinator import EpochCoordinator
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochStore
from penstock.control.running_job import RunningJob
from penstock.control.savepoints import SavepointRequest, prepare_restore
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.graph.job_request import JobRequest
from penstock.graph.stream_graph import upstream_first
from penstock.graph.transformation import Node
from penstock.plan.translation import translate
from penstock.runtime import hosting
from penstock.runtime.blueprint import DiskStateSettings, JobBlueprint, JobSettings
from penstock.runtime.clock import system_clock
from penstock.runtime.context import SubtaskContext
from penstock.runtime.exchange import REPORT_CHANNEL, ExchangeRow, edge_of_channel, wakeup_channel
from penstock.runtime.hosting import run_level, run_level_zero
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import SubtaskReport, read_report
from penstock.runtime.snapshot_target import SnapshotTarget
from penstock.runtime.sources.base import Source
from penstock.runtime.state_log import Place, StateLog


class MemoryStore:
    """Keeps the snapshots of one subtask in this process."""

    def __init__(self) -> None:
        self.entries: dict[Place, bytes] = {}

    def get(self, place: Place) -> bytes | None:
        return self.entries.get(place)

    def put(self, place: Place, content: bytes) -> None:
        self.entries[place] = content

    def remove(self, place: Place) -> None:
        del self.entries[place]


class LocalExecutor:
    """Epochs of `epoch_records` records; with `forget` every epoch starts from snapshots alone."""

    def __init__(
        self,
        epoch_records: int = 1_000_000,
        forget: bool = False,
        max_epochs: int = 10_000,
        start_from: str | None = None,
        stop_after: int | None = None,
        savepoint_directory: str | None = None,
        allow_non_restored_state: bool = False,
        checkpoints: CheckpointSettings | None = None,
        disk_state: DiskStateSettings | None = None,
    ) -> None:
        self._disk_state = disk_state
        self._epoch_records = epoch_records
        self._forget = forget
        self._max_epochs = max_epochs
        self._start_from = start_from
        self._stop_after = stop_after
        self._savepoint_directory = savepoint_directory
        self._allow_non_restored_state = allow_non_restored_state
        self._checkpoints = checkpoints
        self.epochs = 0
        self.savepoint_path: str | None = None
        self.snapshots: SnapshotKeeper | None = None  # of the last job

    def submit(self, request: JobRequest) -> RunningJob:
        job_id = JobID()
        configuration = Configuration.from_dict(request.configuration)
        settings = JobSettings(
            str(job_id),
            request.name,
            request.job_parameters,
            request.auto_watermark_interval_ms,
            disk_state=self._disk_state or DiskStateSettings.of(configuration),
            max_state_size=max_state_size(configuration),
        )
        job = _LocalJob(job_id)
        started = time.monotonic()
        try:
            self._run(request, translate(request, settings), job)
        except JobExecutionError as error:
            job.result.set_exception(error)
        else:
            job.result.set_result(JobExecutionResult(job_id, int((time.monotonic() - started) * 1000)))
        return job

    def _take_path(self, path: Future[str]) -> None:
        self.savepoint_path = path.result()

    def _run(self, request: JobRequest, blueprint: JobBlueprint, job: _LocalJob) -> None:
        run_id = str(job.job_id)
        savepoint = None
        if self._start_from is not None:
            savepoint = prepare_restore(self._start_from, blueprint, self._allow_non_restored_state)
        blobs = [LevelBlob.of(blueprint, level, run_id, savepoint) for level in range(blueprint.levels)]
        logs: dict[tuple[int, int], StateLog] = defaultdict(lambda: StateLog(MemoryStore()))
        with tempfile.TemporaryDirectory() as directory:
            sources = _sources_of(request)
            sizer = EpochSizer(self._epoch_records, self._epoch_records, 10**9)
            store = EpochStore(Path(directory) / "epochs")
            coordinator = EpochCoordinator(
                blueprint, sources, store, sizer, job.take, savepoint=savepoint, checkpoints=self._checkpoints
            )
            self.snapshots = coordinator.snapshots
            for id_, source in sources.items():
                operator = next(op for op in blueprint.operators if op.id == id_)
                source.runtime_context = SubtaskContext(operator, blueprint.settings, 0, system_clock).runtime_context
                source.open(1, str(Path(directory) / str(id_)), coordinator.wake)
            offset = coordinator.initial_offset()
            while not coordinator.finished.is_set() and not coordinator.stopped.is_set():
                if self._stop_after is not None and self.epochs == self._stop_after:
                    assert self._savepoint_directory is not None
                    wanted = SavepointRequest(self._savepoint_directory, stop=True)
                    wanted.path.add_done_callback(self._take_path)
                    coordinator.request_savepoint(wanted)
                end = coordinator.latest_offset(offset)
                if end == offset:
                    continue
                self.epochs += 1
                assert self.epochs <= self._max_epochs, "the job does not come to an end"
                rows = _level_zero(coordinator.partitions(offset, end), blobs[0])
                for level in range(1, blueprint.levels):
                    rows = _run_one_level(blueprint, blobs[level], level, rows, logs)
                coordinator.complete(_reports(rows))
                offset = end
                if self._forget:
                    hosting.forget_containers()


class _LocalJob:
    def __init__(self, job_id: JobID) -> None:
        self._job_id = job_id
        self.result: Future[JobExecutionResult] = Future()
        self._collected: dict[int, list[Any]] = defaultdict(list)

    @property
    def job_id(self) -> JobID:
        return self._job_id

    def take(self, operator_id: int, committables: list[Any]) -> None:
        for committable in committables:
            if hasattr(committable, "commit"):
                committable.commit()
        self._collected[operator_id].append(committables)

    def status(self) -> JobStatus:
        return JobStatus.FAILED if self.result.exception() else JobStatus.FINISHED

    def cancel(self) -> None:
        """The job has always ended already."""

    def savepoint(self, directory: str | None) -> Future[str]:
        raise NotSupportedError("a local test job has always ended already")

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self.savepoint(directory)

    def result_future(self) -> Future[JobExecutionResult]:
        return self.result

    def collected(self, node: Node) -> Iterator[Any]:
        for records in self.collected_epochs(node):
            yield from records

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        yield from self._collected[node.id]
        self.result.result()


def _level_zero(works: list[Any], blob: LevelBlob) -> list[ExchangeRow]:
    rows: list[ExchangeRow] = []
    for work in works:
        payload = SnapshotTarget.encode(work.saving)
        rows += [ExchangeRow(subtask, wakeup_channel(level), 0, payload) for level, subtask in work.wakeups]
        if work.subtask is not None:
            rows += run_level_zero(blob, work.subtask, work.assignments, work.snapshot, work.saving)
    return rows


def _run_one_level(
    job: JobBlueprint, blob: LevelBlob, level: int, rows: list[ExchangeRow], logs: dict[tuple[int, int], StateLog]
) -> list[ExchangeRow]:
    own_edges = {edge.id for edge in job.edges if edge.target_level == level and edge.crosses_levels}
    own: dict[int, list[ExchangeRow]] = defaultdict(list)
    passing: list[ExchangeRow] = []
    saving = None
    for row in rows:
        if row.channel >= 0 and edge_of_channel(row.channel) in own_edges:
            own[row.subtask].append(row)
        elif row.channel == wakeup_channel(level):
            own[row.subtask] += []
            saving = SnapshotTarget.decode(row.payload)
        else:
            passing.append(row)
    for subtask in sorted(own):
        passing += run_level(blob, subtask, own[subtask], logs[level, subtask], saving)
    return passing


def _reports(rows: list[ExchangeRow]) -> list[SubtaskReport]:
    assert all(row.channel == REPORT_CHANNEL for row in rows), "a row passed all levels without being taken"
    return [read_report(row.payload) for row in rows]


def _sources_of(request: JobRequest) -> dict[int, Source]:
    return {node.id: node.params["source"] for node in upstream_first(request.sinks) if "source" in node.params}
