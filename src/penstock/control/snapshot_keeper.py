"""Savepoints and checkpoints of a running job: who waits for one, which epoch is being saved, what was written."""

from __future__ import annotations

from collections import deque
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.control.checkpoints import CheckpointSchedule, CheckpointSettings, CheckpointStore, history_entry
from penstock.control.savepoints import SavepointInProgress, SavepointRequest
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.report import SubtaskReport
from penstock.runtime.sources.base import Source

_REMEMBERED_CHECKPOINTS = 100


class SnapshotKeeper:
    """Asked by the coordinator before and behind every epoch."""

    def __init__(self, job: JobBlueprint, checkpoints: CheckpointSettings | None, clock: Clock) -> None:
        self._job = job
        self._clock = clock
        self._requests: deque[SavepointRequest] = deque()
        self._settings = checkpoints
        self._schedule: CheckpointSchedule | None = None
        if checkpoints is not None:
            self._store = CheckpointStore(checkpoints.directory, checkpoints.retained)
            self._schedule = CheckpointSchedule(
                checkpoints.interval_ms, checkpoints.min_pause_ms, checkpoints.tolerable_failures, clock()
            )
        self.in_progress: SavepointInProgress | None = None
        self.savepoints: list[dict[str, Any]] = []
        self.checkpoints: deque[dict[str, Any]] = deque(maxlen=_REMEMBERED_CHECKPOINTS)
        self.wants_stop = False  # a savepoint was taken to stop the job

    # -- before an epoch ---------------------------------------------------------------------------------------

    def request(self, request: SavepointRequest) -> None:
        self._requests.append(request)

    def request_checkpoint(self) -> SavepointRequest | None:
        """A checkpoint now; None when the job takes none."""
        if self._schedule is None:
            return None
        self._schedule.triggered(self._clock())
        number = self._store.next_number()
        request = SavepointRequest(self._store.path_of(number), checkpoint=number)
        self._requests.append(request)
        return request

    def wants_epoch(self) -> bool:
        """Whether the next epoch has to be saved, and so has to run even without records."""
        if self._schedule is not None and self._schedule.due(self._clock()):
            self.request_checkpoint()
        return bool(self._requests)

    def begin(self, end_offset: dict[str, Any]) -> None:
        self.in_progress = SavepointInProgress(self._requests.popleft(), self._job, end_offset)

    def next_due(self) -> int | None:
        return None if self._schedule is None else self._schedule.next_due

    # -- behind an epoch ---------------------------------------------------------------------------------------

    def finish(self, reports: list[SubtaskReport], sources: dict[str, Source]) -> None:
        """The saved epoch is committed: its parts become a savepoint or a checkpoint."""
        if self.in_progress is None or not reports:
            return
        saving, self.in_progress = self.in_progress, None
        request = saving.request
        try:
            entry = saving.finish(reports, sources)
        except Exception as error:
            request.path.set_exception(error)
            if request.checkpoint is not None:
                self._checkpoint_failed(request.checkpoint, error)
            return
        if request.checkpoint is None:
            self.savepoints.append(entry)
        else:
            self._checkpoint_completed(request.checkpoint, entry)
        self.wants_stop = self.wants_stop or request.stop
        request.path.set_result(entry["path"])

    def _checkpoint_completed(self, number: int, entry: dict[str, Any]) -> None:
        assert self._schedule is not None
        self._schedule.completed(self._clock())
        self._store.drop_old()
        self.checkpoints.append(history_entry(number, entry, None))

    def _checkpoint_failed(self, number: int, error: Exception) -> None:
        assert self._schedule is not None
        self.checkpoints.append(history_entry(number, None, str(error)))
        if not self._schedule.failed(self._clock()):
            raise JobExecutionError(f"checkpoint {number} failed, and no more failures are tolerated: {error}")

    def give_up(self, why: str) -> None:
        """The job ends, or its epoch failed: whoever waits is told."""
        waiting = [*self._requests, *([] if self.in_progress is None else [self.in_progress.request])]
        self._requests.clear()
        self.in_progress = None
        for request in waiting:
            if request.checkpoint is not None:
                assert self._schedule is not None
                self._schedule.abandoned()
            if not request.path.done():
                request.path.set_exception(JobExecutionError(f"no savepoint was taken: {why}"))

    def end(self, cancelled: bool, failed: bool) -> None:
        """The job is over: its checkpoints go, unless somebody may want to start from them."""
        if self._settings is None:
            return
        if not (failed or (cancelled and self._settings.retain_on_cancel)):
            self._store.remove_all()
