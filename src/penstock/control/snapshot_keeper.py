"""Checkpoints and savepoints of a running job: does what the snapshot machine decides, and tells it what happened."""

from __future__ import annotations

import itertools
import threading

from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.control.checkpoints import CheckpointSettings, CheckpointStore, remove_files
from penstock.control.epoch_store import Totals
from penstock.control.savepoints import SavepointRequest, SnapshotInProgress
from penstock.control.snapshot_history import (
    HistoryEntry,
    Restored,
    SavedPart,
    SnapshotHistory,
    SnapshotOverview,
    WrittenFacts,
)
from penstock.control.snapshot_machine import (
    Action,
    Begin,
    Complete,
    EpochCommitted,
    EpochPlanned,
    Event,
    Fail,
    FailJob,
    JobFailed,
    MetadataFailed,
    MetadataWritten,
    Refuse,
    RemoveFiles,
    Requested,
    Snapshot,
    SnapshotMachine,
    TimePassed,
    WriteMetadata,
)
from penstock.control.work import Offset
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.report import SubtaskReport
from penstock.runtime.savepoint import Savepoint, new_savepoint_directory
from penstock.runtime.snapshot_target import SnapshotKind, SnapshotTarget
from penstock.runtime.sources.base import SourcePlanner


class SnapshotKeeper:
    """Asked before and after every epoch; requests come from other threads."""

    def __init__(self, job: JobBlueprint, settings: CheckpointSettings, clock: Clock) -> None:
        self._job = job
        self._clock = clock
        self._settings = settings
        self.history = SnapshotHistory(settings.history_file)
        self._store = CheckpointStore(settings.directory, settings.retained)
        last_number = max(self.history.last_number, *self._store.numbers(), 0)
        self._machine = SnapshotMachine(settings.pacing, clock(), last_number + 1)
        self._lock = threading.RLock()
        self._tickets = itertools.count()
        self._requests: dict[int, SavepointRequest] = {}
        self._directory = ""
        self._reports: list[SubtaskReport] = []
        self._sources: dict[str, SourcePlanner] = {}
        self._written: Savepoint | None = None
        self._totals = Totals()
        self._verdict: str | None = None  # why the job has to fail
        self._in_progress: SnapshotInProgress | None = None
        self._ended = False
        self.wants_stop = False  # a savepoint was taken to stop the job

    # -- what others ask ---------------------------------------------------------------------------------------

    def request(self, request: SavepointRequest) -> None:
        with self._lock:
            if self._ended:
                request.path.set_exception(JobExecutionError("the job has ended: there is nothing to save"))
                return
            ticket = next(self._tickets)
            self._requests[ticket] = request
            self._handle(Requested(ticket, request.kind))

    def request_checkpoint(self) -> SavepointRequest | None:
        """A checkpoint now; None when the job takes none."""
        if self._settings.pacing.interval_ms is None:
            return None
        request = SavepointRequest(kind=SnapshotKind.CHECKPOINT)
        self.request(request)
        return request

    def started_from(self, savepoint: Savepoint) -> None:
        with self._lock:
            self.history.started_from(
                Restored(self._clock(), savepoint.path, savepoint.number, savepoint.epoch, savepoint.passed_over)
            )

    def tick(self) -> str | None:
        """Looks at the clock while an epoch runs; gives the reason if the job must not go on."""
        with self._lock:
            self._handle(TimePassed(self._clock()))
            verdict, self._verdict = self._verdict, None
            return verdict

    def describe(self) -> SnapshotOverview:
        with self._lock:
            return self.history.describe()

    # -- before an epoch ---------------------------------------------------------------------------------------

    def wants_epoch(self, epoch: int) -> bool:
        """Whether this epoch has to be saved, and so has to run even without records."""
        with self._lock:
            elsewhere = self._in_progress is not None and self._in_progress.epoch != epoch
            self._handle(TimePassed(self._clock()) if elsewhere else EpochPlanned(self._clock()))
            self._raise_verdict()
            return self._machine.running is not None and not elsewhere

    def begin(self, end_offset: Offset) -> None:
        """An epoch is planned; if it has to be saved, its subtasks will hear so."""
        with self._lock:
            running = self._machine.running
            if running is None or (self._in_progress is not None and self._in_progress.epoch != end_offset["epoch"]):
                return
            request = self._request_of(running)
            drain = request is not None and request.drain
            target = SnapshotTarget(running.kind, self._directory)
            self._in_progress = SnapshotInProgress(target, running.number, drain, self._job, end_offset)

    def saving(self, epoch: int) -> SnapshotInProgress | None:
        """How the epoch is saved, if it is."""
        in_progress = self._in_progress
        return in_progress if in_progress is not None and in_progress.epoch == epoch else None

    def next_due(self) -> int | None:
        return self._machine.next_due

    # -- after an epoch ----------------------------------------------------------------------------------------

    def finish(
        self, epoch: int, reports: list[SubtaskReport], sources: dict[str, SourcePlanner], totals: Totals
    ) -> None:
        """An epoch is committed: if it was saved, its parts become a savepoint or a checkpoint."""
        with self._lock:
            saving = self.saving(epoch)
            if saving is not None:
                self._reports, self._sources, self._totals = reports, sources, totals
                self._handle(EpochCommitted(self._clock(), saving.failure(reports)))
                self._reports, self._sources, self._in_progress = [], {}, None
            self._raise_verdict()

    def give_up(self, why: str) -> None:
        """The job ends, or its epoch failed: whoever waits hears of it."""
        with self._lock:
            self._handle(JobFailed(self._clock(), why))
            self._in_progress = None
            self._verdict = None

    def end(self, state: JobStatus) -> None:
        """The job is over: its checkpoints go, unless somebody may want to start from them."""
        with self._lock:
            self._ended = True
            self.give_up("the job has ended")
        if state not in self._settings.kept_after:
            self._store.remove_all()

    def _raise_verdict(self) -> None:
        verdict, self._verdict = self._verdict, None
        if verdict is not None:
            raise JobExecutionError(verdict)

    # -- what the machine decides ------------------------------------------------------------------------------

    def _handle(self, event: Event) -> None:
        for action in self._machine.handle(event):
            self._act(action)

    def _act(self, action: Action) -> None:
        match action:
            case Begin(snapshot):
                self._directory = self._directory_of(snapshot)
                entry = HistoryEntry(snapshot.number, snapshot.kind, snapshot.begun_at, path=self._directory)
                self.history.began(entry)
            case WriteMetadata(snapshot):
                self._write_metadata()
            case Complete(snapshot, now):
                self._complete(snapshot, now)
            case Fail(snapshot, now, why):
                self.history.failed(snapshot.number, now, why)
                self._tell_failure(snapshot.ticket, why)
            case RemoveFiles(snapshot):
                remove_files(self._directory)
            case Refuse(ticket, why):
                self._tell_failure(ticket, why)
            case FailJob(why):
                self._verdict = why

    def _directory_of(self, snapshot: Snapshot) -> str:
        if snapshot.kind is SnapshotKind.CHECKPOINT:
            return self._store.path_of(snapshot.number)
        request = self._request_of(snapshot)
        assert request is not None
        return new_savepoint_directory(request.parent, self._job.settings.job_id)

    def _write_metadata(self) -> None:
        assert self._in_progress is not None
        try:
            self._written = self._in_progress.write_metadata(self._reports, self._sources)
        except Exception as error:  # a full disk, or a source whose position cannot be pickled
            self._handle(MetadataFailed(self._clock(), f"{type(error).__name__}: {error}"))
        else:
            self._handle(MetadataWritten(self._clock()))

    def _complete(self, snapshot: Snapshot, now: int) -> None:
        written = self._written
        assert written is not None
        parts = tuple(SavedPart(part.level, part.subtask, part.bytes) for part in written.parts)
        facts = WrittenFacts(written.epoch, written.bytes, len(parts), parts)
        self.history.completed(snapshot.number, now, facts, self._totals)
        if snapshot.kind is SnapshotKind.CHECKPOINT:
            self.history.dropped(self._store.drop_old())
        request = self._requests.pop(snapshot.ticket, None) if snapshot.ticket is not None else None
        if request is not None:
            self.wants_stop = self.wants_stop or request.stop
            request.path.set_result(written.path)

    def _request_of(self, snapshot: Snapshot) -> SavepointRequest | None:
        return None if snapshot.ticket is None else self._requests.get(snapshot.ticket)

    def _tell_failure(self, ticket: int | None, why: str) -> None:
        request = self._requests.pop(ticket, None) if ticket is not None else None
        if request is not None and not request.path.done():
            request.path.set_exception(JobExecutionError(f"no {request.kind} was taken: {why}"))
