"""The epochs of one job on the driver: the parts that plan, complete and count them, put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.common.configuration import Configuration
from penstock.common.run_options import current_run_options
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.committing import Committing
from penstock.control.epoch_completion import EpochCompletion
from penstock.control.epoch_planner import EpochPlanner
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochStore
from penstock.control.job_home import JobHome
from penstock.control.job_log import JobLog
from penstock.control.job_machine import JobEvent
from penstock.control.restart import RestartStrategy
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.state_questions import StateQuestions
from penstock.control.statistics import JobStatistics
from penstock.control.wakeups import Wakeups
from penstock.control.watermark_alignment import WatermarkAlignment
from penstock.control.work import places_of
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.context import SubtaskContext
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import SourcePlanner


@dataclass(frozen=True)
class JobSpec:
    """A job that is ready to run."""

    blueprint: JobBlueprint
    sources: dict[int, SourcePlanner]
    configuration: Configuration
    sizer: EpochSizer
    restarts: RestartStrategy
    checkpoints: CheckpointSettings
    savepoint: Savepoint | None = None


class JobEpochs:
    """Goes on from what an earlier driver has recorded in the home, if there is anything."""

    def __init__(
        self,
        spec: JobSpec,
        home: JobHome,
        clock: Clock,
        on_progress: Callable[[], None],
        tell: Callable[[JobEvent], None],
    ) -> None:
        self._spec = spec
        self._home = home
        self._clock = clock
        self._on_progress = on_progress
        self.store = EpochStore(home.epochs, spec.checkpoints.way_out)
        self.went_on = self.store.latest.unfinished is not None
        self.snapshots = SnapshotKeeper(spec.blueprint, spec.checkpoints, clock)
        self.committing = Committing(spec.blueprint, home.check_owned)
        self.statistics = JobStatistics(spec.blueprint, spec.sources, clock)
        self.questions = StateQuestions()
        wakeups = Wakeups(clock)
        if spec.savepoint is not None:
            self.snapshots.started_from(spec.savepoint)
            # Timers by the clock are in the savepoint; nobody knows them before every subtask has read its part.
            wakeups.wake_all(places_of(spec.blueprint))
        alignment = WatermarkAlignment(spec.blueprint, self.statistics.watermarks_of)
        self.planner = EpochPlanner(
            spec.blueprint,
            spec.sources,
            spec.sizer,
            self.snapshots,
            wakeups,
            clock,
            spec.savepoint,
            alignment.may_read,
            self.questions,
            alignment.limit,
        )
        self.completion = EpochCompletion(
            spec.blueprint,
            self.planner.sources,
            self.store,
            self.snapshots,
            wakeups,
            self.statistics,
            self._observe,
            self.committing,
            tell,
            JobLog.of(home.home, home.job_id, current_run_options().verbose),
            self.questions,
        )

    def open_sources(self) -> None:
        """Before the engine starts, which may take a while: whoever gave a wrong path should hear of it at once."""
        job = self._spec.blueprint
        operators = {operator.id: operator for operator in job.operators}
        for id_, source in self._spec.sources.items():
            context = SubtaskContext(operators[id_], job.settings, 0, self._clock)
            source.runtime_context = context.runtime_context
            directory = self._home.source_directory(operators[id_].uid)
            source.open(operators[id_].parallelism, str(directory), self.planner.wake)
        self.planner.initial_offset()

    def close_sources(self) -> None:
        for source in self._spec.sources.values():
            source.close()

    def _observe(self, records: int, milliseconds: float, busy_ms: float, backlog: bool) -> None:
        self._spec.sizer.observe(records, milliseconds, busy_ms, backlog)
        self._on_progress()
