"""Plans and completes the epochs of one job, in the driver.

Spark calls it from two sides: the source asks what the next epoch reads, and foreachBatch hands in the reports of all
subtasks when the epoch has been computed. Everything that makes an epoch complete happens there.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochRecord, EpochStore
from penstock.control.savepoints import SavepointRequest, restore_sources
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.work import Work
from penstock.metrics.values import MetricValue, Number
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.report import SubtaskReport
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import Assignment, Source

_IDLE_WAIT_SECONDS = 0.05

Place = tuple[int, int]  # level, subtask


@dataclass
class JobStatistics:
    """Counted over completed epochs."""

    epoch: int = 0
    records_in: int = 0
    records_out: int = 0
    rate: float = 0.0
    watermark: int = MIN_TIMESTAMP
    metrics: dict[tuple[str, int], dict[str, MetricValue]] = field(default_factory=dict)  # by uid and subtask

    def metric_totals(self) -> dict[str, dict[str, Number]]:
        """By uid and name, put together over the subtasks."""
        together: dict[str, dict[str, Any]] = {}
        for (uid, _), values in sorted(self.metrics.items()):
            totals = together.setdefault(uid, {})
            for name, value in values.items():
                totals[name] = totals[name].plus(value) if type(totals.get(name)) is type(value) else value
        return {
            uid: {name + suffix: number for name, value in totals.items() for suffix, number in value.numbers()}
            for uid, totals in together.items()
        }

    def watermark_lag_ms(self, now: int) -> int | None:
        return None if self.watermark in (MIN_TIMESTAMP, MAX_TIMESTAMP) else now - self.watermark


class EpochCoordinator:
    """The driver's half of the engine; knows nothing of Spark's classes."""

    def __init__(
        self,
        job: JobBlueprint,
        sources: dict[int, Source],
        store: EpochStore,
        sizer: EpochSizer,
        on_committables: Callable[[int, list[Any]], None],
        clock: Clock = system_clock,
        savepoint: Savepoint | None = None,
        checkpoints: CheckpointSettings | None = None,
    ) -> None:
        self._job = job
        self._operators = {operator.id: operator for operator in job.operators}
        self._sources = sources
        self._store = store
        self._sizer = sizer
        self._on_committables = on_committables
        self._clock = clock
        self._news = threading.Condition()
        self._wakeups: dict[Place, int] = {}
        self._due: tuple[Place, ...] = ()
        self._unfinished = set(self._all_places())
        self._recovered = self._recover()
        self._planned_at = time.monotonic()
        self._computed: list[SubtaskReport] = []
        # Behind which epoch the running one begins; batches that only Spark's own sources feed do not count.
        self._before = store.latest
        self._end: dict[str, Any] | None = None  # of the running epoch
        self.snapshots = SnapshotKeeper(job, checkpoints, clock)
        self.stopped = threading.Event()  # a savepoint was taken to stop the job
        self._start_positions = {} if savepoint is None else restore_sources(savepoint, self._sources_by_uid())
        if savepoint is not None:
            self.snapshots.started_from(savepoint)
            # Timers by the clock are in the savepoint; nobody knows them before every subtask has read its part.
            self._wakeups = dict.fromkeys(self._unfinished, 0)
        self.statistics = JobStatistics()
        self.failure: Failure | None = None
        self.finished = threading.Event()
        self.output_closed = threading.Event()
        self.planning = threading.Event()  # set once the query has begun to plan

    def _recover(self) -> EpochRecord | None:
        """Goes on from what an earlier process has recorded, if there is anything."""
        record = self._store.latest
        if record.unfinished is None:
            return None
        self._unfinished = set(record.unfinished)
        # The program may have changed: every subtask looks at its state in the first epoch, before it can be committed.
        self._wakeups = dict.fromkeys(self._unfinished, 0)
        self._due = tuple(self._unfinished)
        return record

    def forget_failure(self) -> None:
        """Before another attempt. An epoch that was computed stays: Spark may have committed it before it failed, and
        then nobody computes it again; else it is computed again, and replaced.
        """
        self.snapshots.give_up("the job failed and was started again")
        self.failure = None
        self.planning.clear()

    # -- planning ----------------------------------------------------------------------------------------------

    def initial_offset(self) -> dict[str, Any]:
        return {
            "epoch": 0,
            "positions": {
                uid: [self._start_position(uid, source), False] for uid, source in self._sources_by_uid().items()
            },
        }

    def _start_position(self, uid: str, source: Source) -> Any:
        if uid in self._start_positions:
            return self._start_positions[uid]
        return source.initial_position(self._parallelism_of(uid))

    def latest_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        """The end of the next epoch; waits a moment when there is none, so that Spark does not spin."""
        self.planning.set()
        self._store.check_offsets(start)
        try:
            self._publish()
            # Behind a savepoint that stops the job not a single record more may become visible.
            ended = self.finished.is_set() or self.stopped.is_set()
            return start if ended else self._next_offset(start)
        except BrokenPipeError:
            # Whoever reads the program's output has had enough (`| head`): the job ends as if it had been cancelled.
            self.output_closed.set()
            return start

    def planning_failed(self, error: Exception) -> None:
        self.failure = Failure(type(error).__name__, str(error))

    def request_savepoint(self, request: SavepointRequest) -> None:
        """The next epoch is saved; it runs at once, whether or not there is anything to read."""
        self.snapshots.request(request)
        self.wake()

    def request_checkpoint(self) -> SavepointRequest | None:
        """A checkpoint outside its interval; None when the job takes none."""
        request = self.snapshots.request_checkpoint()
        self.wake()
        return request

    def _next_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        if self.snapshots.wants_epoch():
            self._planned_at = time.monotonic()
            end = {"epoch": start["epoch"] + 1, "positions": self._advance(start["positions"])}
            self.snapshots.begin(end)
            self._take_due()
            return end
        positions = self._advance(start["positions"])
        if positions == start["positions"] and not self._take_due():
            with self._news:
                self._news.wait(self._idle_wait())
            positions = self._advance(start["positions"])
            if positions == start["positions"] and not self._take_due():
                return start
        else:
            self._take_due()
        self._planned_at = time.monotonic()
        return {"epoch": start["epoch"] + 1, "positions": positions}

    def _idle_wait(self) -> float:
        moments = list(self._wakeups.values())
        checkpoint = self.snapshots.next_due()
        if checkpoint is not None:
            moments.append(checkpoint)
        if not moments:
            return _IDLE_WAIT_SECONDS
        return min(_IDLE_WAIT_SECONDS, max(0.0, (min(moments) - self._clock()) / 1000))

    def wake(self) -> None:
        """A source has news, or the job is asked to stop: look again at once."""
        with self._news:
            self._news.notify_all()

    def _advance(self, positions: dict[str, Any]) -> dict[str, Any]:
        if self.finished.is_set() or self.failure is not None:
            return positions
        active = {self._uid(id_): source for id_, source in self._sources.items()}
        active = {uid: source for uid, source in active.items() if not positions[uid][1]}
        budget = max(1, self._sizer.budget // max(1, len(active)))
        advanced = dict(positions)
        for uid, source in active.items():
            position = source.advance(positions[uid][0], budget)
            advanced[uid] = [position, source.exhausted(position)]
        return advanced

    def _take_due(self) -> bool:
        now = self._clock()
        self._due = tuple(place for place, moment in self._wakeups.items() if moment <= now)
        return bool(self._due) and not self.finished.is_set()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Work]:
        """The tasks of level 0; asked again with the same offsets after a failure, it gives the same work."""
        self.planning.set()
        self._store.check_offsets(start, end)
        assignments: dict[int, dict[int, Assignment]] = {}
        for id_, source in self._sources.items():
            before, after = start["positions"][self._uid(id_)], end["positions"][self._uid(id_)]
            if before == after:
                continue
            for subtask, assignment in source.assignments(before[0], after[0], self._parallelism(id_)).items():
                assignments.setdefault(subtask, {})[id_] = assignment
        saving = self.snapshots.in_progress
        woken = self._all_places() if saving is not None else self._due
        for level, subtask in woken:
            if level == 0:
                assignments.setdefault(subtask, {})
        if saving is not None and saving.drain:
            self._end_all_sources(assignments)
        target = None if saving is None else saving.target
        self._before, self._end = self._store.get(start["epoch"]), end
        snapshots = self._before.snapshots
        works = [Work(subtask, work, snapshots.get(subtask), target) for subtask, work in sorted(assignments.items())]
        wakeups = tuple(place for place in woken if place[0] > 0)
        return [*works, Work(None, saving=target, wakeups=wakeups)] if wakeups else works

    def _all_places(self) -> tuple[Place, ...]:
        return tuple(
            sorted(
                {
                    (operator.level, subtask)
                    for operator in self._job.operators
                    if not operator.native
                    for subtask in range(operator.parallelism)
                }
            )
        )

    def _end_all_sources(self, assignments: dict[int, dict[int, Assignment]]) -> None:
        for id_ in self._sources:
            for subtask in range(self._parallelism(id_)):
                planned = assignments.setdefault(subtask, {}).get(id_, Assignment())
                assignments[subtask][id_] = Assignment(planned.work, True)

    def _sources_by_uid(self) -> dict[str, Source]:
        return {self._uid(id_): source for id_, source in self._sources.items()}

    def _parallelism_of(self, uid: str) -> int:
        return next(operator.parallelism for operator in self._job.operators if operator.uid == uid)

    def _uid(self, operator_id: int) -> str:
        return self._operators[operator_id].uid

    def _parallelism(self, operator_id: int) -> int:
        return self._operators[operator_id].parallelism

    # -- completion --------------------------------------------------------------------------------------------

    def complete(self, reports: list[SubtaskReport]) -> None:
        """Called once an epoch is computed everywhere; when it returns, Spark writes its commit log."""
        reports.sort(key=lambda report: (report.level, report.subtask))
        failures = [report.failure for report in reports if report.failure is not None]
        if failures:
            _print(reports)
            self.failure = failures[0]
            raise JobExecutionError(failures[0])
        self._check_state(reports)
        self._remember(reports)
        self._count(reports)
        self._computed = reports

    def _check_state(self, reports: list[SubtaskReport]) -> None:
        """Every subtask must have begun with the snapshot that it made in the epoch before, and no other."""
        if self._end is None:
            return  # a batch of Spark's own sources has no number here by which to find the one before
        for report in reports:
            recorded = self._before.snapshot_ids.get((report.level, report.subtask))
            if report.snapshots is not None and report.snapshots[0] != recorded:
                damage = self._store.damage(
                    f"The state in Spark's store of subtask {report.subtask} of level {report.level} is not what epoch "
                    f"{self._before.epoch} has left there"
                )
                self.failure = damage.failure
                raise damage

    def _publish(self) -> None:
        """Makes the results of an epoch visible: Spark plans the next one only when this one is in its commit log."""
        reports = self._computed
        if self._recovered is not None and not reports:
            # The process before this one may have died between Spark's commit and this point.
            for committable in self._recovered.committables:
                committable.commit()
        self._recovered = None
        _print(reports)
        for report in reports:
            # Whatever fails on the way, another attempt goes on behind what is done.
            report.stdout = report.stderr = ""
            for operator_id, committables in list(report.committables.items()):
                self._on_committables(operator_id, committables)
                del report.committables[operator_id]
        self._computed = []
        self.snapshots.finish(reports, self._sources_by_uid(), self._store.latest.totals)
        if self.snapshots.wants_stop:
            self.stopped.set()
        if not self._unfinished:
            self.finished.set()

    def _remember(self, reports: list[SubtaskReport]) -> None:
        """Nothing changes here unless the record is on the disk: a full one must leave everything as it was."""
        before, end = self._before, self._end or self._before.offset
        wakeups, unfinished = dict(self._wakeups), set(self._unfinished)
        for report in reports:
            place = (report.level, report.subtask)
            wakeups.pop(place, None)
            if report.next_processing_time is not None:
                wakeups[place] = report.next_processing_time
            if report.finished:
                unfinished.discard(place)
        record = EpochRecord(
            before.epoch if end is None else end["epoch"],
            {**before.snapshots, **{report.subtask: report.delta for report in reports if report.delta is not None}},
            self._durable_committables(reports),
            frozenset(unfinished),
            {**before.snapshot_ids, **{(r.level, r.subtask): r.snapshots[1] for r in reports if r.snapshots}},
            end,
            before.totals.plus(self._records_read(reports), sum(report.changed_bytes for report in reports)),
        )
        self._store.put(record)
        self._wakeups, self._unfinished = wakeups, unfinished
        self._before, self._end = record, None

    def _records_read(self, reports: list[SubtaskReport]) -> int:
        return sum(report.records_in.get(id_, 0) for report in reports for id_ in self._sources)

    def _durable_committables(self, reports: list[SubtaskReport]) -> list[Any]:
        """Collected records are for this process only; everything else must survive it."""
        return [
            committable
            for report in reports
            for operator_id, committables in report.committables.items()
            if self._operators[operator_id].kind != "collect"
            for committable in committables
        ]

    def _count(self, reports: list[SubtaskReport]) -> None:
        statistics = self.statistics
        elapsed_ms = (time.monotonic() - self._planned_at) * 1000
        read = self._records_read(reports)
        sinks = [id_ for id_, operator in self._operators.items() if operator.params.get("sink")]
        statistics.epoch += 1
        statistics.records_in += read
        statistics.records_out += sum(r.records_in.get(id_, 0) for r in reports for id_ in sinks)
        statistics.rate = read / elapsed_ms * 1000 if elapsed_ms else 0.0
        watermarks = [r.watermarks[id_] for r in reports for id_ in sinks if id_ in r.watermarks]
        if watermarks:
            statistics.watermark = min(watermarks)
        for report in reports:
            for uid, values in report.metrics.items():
                statistics.metrics[uid, report.subtask] = values
        self._sizer.observe(read, elapsed_ms)


def _print(reports: list[SubtaskReport]) -> None:
    for report in reports:
        sys.stderr.write(report.stderr)
        sys.stdout.write(report.stdout)
    sys.stdout.flush()
