"""Completes the epochs of one job, in the driver: the record that says what was computed, and then what is visible.

An epoch is complete when its record is on the disk. It is committed when it will never run again: for an engine that
has a log of its own (Spark) that is later, so that `complete` and `publish` are two steps.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.control.committing import Committables, Committing
from penstock.control.epoch_history import EpochFacts
from penstock.control.epoch_store import EpochRecord, EpochStore
from penstock.control.job_log import JobLog
from penstock.control.job_machine import AllFinished, JobEvent, StoppedWithSavepoint
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.state_questions import StateQuestions
from penstock.control.statistics import JobStatistics
from penstock.control.wakeups import Wakeups
from penstock.control.work import EpochPlan, places_of
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.report import SubtaskReport
from penstock.runtime.sources.base import SourcePlanner


class EpochCompletion:
    """Epochs come in order; what planning does meanwhile does not matter here."""

    def __init__(
        self,
        job: JobBlueprint,
        sources: dict[str, SourcePlanner],
        store: EpochStore,
        snapshots: SnapshotKeeper,
        wakeups: Wakeups,
        statistics: JobStatistics,
        observe: Callable[[int, float, float, bool], None],
        committing: Committing,
        tell: Callable[[JobEvent], None],
        log: JobLog | None = None,
        questions: StateQuestions | None = None,
    ) -> None:
        self._questions = questions or StateQuestions()
        self._sources = sources
        self.store = store
        self._snapshots = snapshots
        self._wakeups = wakeups
        self._statistics = statistics
        self._observe = observe
        self._counted_last = 0.0
        self._committing = committing
        self._tell = tell
        self._log = log
        self._unfinished = set(places_of(job))
        self._computed: list[SubtaskReport] = []
        self._staged: Committables = {}
        self.ended = False  # all subtasks have finished, or a savepoint was taken to stop the job
        self._recovered = self._recover()

    def _recover(self) -> EpochRecord | None:
        """Goes on from what an earlier process has recorded, if there is anything."""
        record = self.store.latest
        if record.unfinished is None:
            return None
        self._unfinished = set(record.unfinished)
        # The program may have changed: every subtask looks at its state in the first epoch, before it can be committed.
        self._wakeups.wake_all(self._unfinished)
        for uid, source in self._sources.items():
            source.recover(record.progress.get(uid))
        return record

    # -- the record --------------------------------------------------------------------------------------------

    def complete(self, plan: EpochPlan | None, reports: list[SubtaskReport]) -> None:
        """Called once an epoch is computed everywhere; a batch that only Spark's own sources feed has no plan."""
        began = time.monotonic()
        reports.sort(key=lambda report: (report.level, report.subtask))
        failure = next((report.failure for report in reports if report.failure is not None), None)
        if failure is not None:
            self.show(reports)
            raise JobExecutionError(failure)
        if self._log is not None:
            self._log.write(reports)
        before = self.store.latest if plan is None else self.store.get(plan.start["epoch"])
        if plan is not None:
            self._check_state(before, reports)
        staged = self._committing.staged(reports)
        self._remember(before, plan, reports, staged)
        self._count(plan, reports, began)
        self._computed, self._staged = reports, staged

    def show(self, reports: list[SubtaskReport]) -> None:
        """What functions have said before they failed."""
        if self._log is not None:
            self._log.write(reports)
        _print(reports)

    def _check_state(self, before: EpochRecord, reports: list[SubtaskReport]) -> None:
        """Every subtask must have begun with the snapshot that it made in the epoch before, and no other."""
        for report in reports:
            recorded = before.snapshot_ids.get((report.level, report.subtask))
            if report.snapshots is not None and report.snapshots[0] != recorded:
                raise self.store.damage(
                    f"The stored state of subtask {report.subtask} of level {report.level} is not what epoch "
                    f"{before.epoch} has left there"
                )

    def _remember(
        self, before: EpochRecord, plan: EpochPlan | None, reports: list[SubtaskReport], staged: Committables
    ) -> None:
        """Nothing changes here unless the record is on the disk: a full one must leave everything as it was."""
        unfinished = self._unfinished - {(report.level, report.subtask) for report in reports if report.finished}
        level_zero = {report.subtask: report.delta for report in reports if report.delta is not None}
        self.store.put(
            EpochRecord(
                before.epoch if plan is None else plan.number,
                {**before.snapshots, **level_zero},
                self._committing.surviving(staged),
                frozenset(unfinished),
                {**before.snapshot_ids, **{(r.level, r.subtask): r.snapshots[1] for r in reports if r.snapshots}},
                before.offset if plan is None else plan.end,
                before.totals.plus(
                    self._statistics.records_read(reports), sum(report.changed_bytes for report in reports)
                ),
                before.commit_number + 1,
                before.progress if plan is None else self._progress(reports),
                {**before.union_lists, **{(r.level, r.subtask): r.union_lists for r in reports if r.union_lists}},
            )
        )
        self._unfinished = unfinished
        self._wakeups.learn(reports)

    def _progress(self, reports: list[SubtaskReport]) -> dict[str, Any]:
        return {
            uid: source.completed([report.readings[uid] for report in reports if uid in report.readings])
            for uid, source in self._sources.items()
        }

    def _count(self, plan: EpochPlan | None, reports: Sequence[SubtaskReport], began: float) -> None:
        now, records = time.monotonic(), self._statistics.records_read(reports)
        elapsed_ms = 0.0 if plan is None else (now - plan.planned_at) * 1000
        busy = _busy_by_level(reports)
        self._statistics.count(reports, elapsed_ms)
        self._statistics.epochs.completed(
            EpochFacts(
                self.store.latest.epoch,
                time.time_ns() // 1_000_000,
                records,
                sum(report.changed_bytes for report in reports),
                planning=0.0 if plan is None else plan.planning_ms,
                computing=0.0 if plan is None else (began - plan.planned_at) * 1000,
                recording=(now - began) * 1000,
                source=busy.get(0, 0.0),
                operators=sum(spent for level, spent in busy.items() if level > 0),
                state=max((report.snapshot_ms for report in reports), default=0.0),
            )
        )
        # Where several are under way, an epoch waits for the one before it: that is no cost of its own.
        own_ms = elapsed_ms if plan is None else (now - max(plan.planned_at, self._counted_last)) * 1000
        self._counted_last = now
        backlog = plan is None or self._statistics.backlog(reports, plan.share)
        self._observe(records, own_ms, sum(busy.values()), backlog)

    def held_up(self, seconds: float) -> None:
        """So long the sources had to wait for epochs that were under way."""
        self._statistics.vitals.hold_up(seconds)

    # -- what is visible ---------------------------------------------------------------------------------------

    def publish(self) -> None:
        """Makes the results of completed epochs visible: the engine knows now that they never run again."""
        reports, began = self._computed, time.monotonic()
        if self._recovered is not None and not reports:
            # The process before this one may have died between the commit and this point.
            self._committing.commit(self._recovered.commit_number, dict(self._recovered.committables))
        self._recovered = None
        _print(reports)
        for report in reports:
            report.stdout = report.stderr = ""  # once is enough, whatever fails on the way
        self._committing.commit(self.store.latest.commit_number, self._staged)
        self._computed = []
        if reports:
            self._tell_sources()
            self._snapshots.finish(self.store.latest.epoch, reports, self._sources, self.store.latest.totals)
            self._questions.answered(self.store.latest.epoch, reports)
            self._statistics.epochs.committed((time.monotonic() - began) * 1000)
        self._notice_the_end()

    def _tell_sources(self) -> None:
        offset = self.store.latest.offset
        for uid, source in self._sources.items():
            if offset is not None:  # a batch that only Spark's own sources feed leaves them where they are
                source.on_commit(offset["positions"][uid][0])

    def _notice_the_end(self) -> None:
        if self.ended:
            return
        if self._snapshots.wants_stop:
            self.ended = True
            self._tell(StoppedWithSavepoint())
        elif not self._unfinished:
            self.ended = True
            self._tell(AllFinished())


def _busy_by_level(reports: Sequence[SubtaskReport]) -> dict[int, float]:
    """How many milliseconds operators worked: levels one after the other, the subtasks of each side by side."""
    slowest: dict[int, float] = {}
    for report in reports:
        slowest[report.level] = max(report.busy_ms, slowest.get(report.level, 0.0))
    return slowest


def _print(reports: list[SubtaskReport]) -> None:
    for report in reports:
        sys.stderr.write(report.stderr)
        sys.stdout.write(report.stdout)
    sys.stdout.flush()
