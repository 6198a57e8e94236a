"""Runs a whole job in this process, to its end: the job master on the local engine, with a home that is removed after.

For tests of programs: the size of epochs is chosen, and the first failure ends the job unless the program has asked for
a restart strategy.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import Future
from pathlib import Path

from penstock.common.configuration import Configuration
from penstock.common.job_id import JobID
from penstock.common.options import value_of
from penstock.common.run_options import current_run_options
from penstock.common.state_backend_names import max_state_size
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.engine import Engine, WorkerEnvironment
from penstock.control.epoch_size import EpochSizer
from penstock.control.job_epochs import JobSpec
from penstock.control.job_home import JobHome
from penstock.control.job_master import JobMaster
from penstock.control.job_record import record_of
from penstock.control.job_submission import configured_savepoint, shared_place, sources_of, stack_sample_ms
from penstock.control.restart import NoRestart, restart_strategy
from penstock.control.running_job import RunningJob
from penstock.control.savepoints import prepare_restore
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.snapshot_machine import Pacing
from penstock.engines.local.engine import LocalEngine
from penstock.graph.job_request import JobRequest
from penstock.plan.translation import translate
from penstock.runtime.blueprint import DiskStateSettings, JobBlueprint, JobSettings
from penstock.runtime.user_log import levels_of

_NO_TARGET_MS = 10**9


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
        """The job has ended when this returns."""
        job_id = str(JobID())
        configuration = Configuration.from_dict(request.configuration)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:  # tasks elsewhere may end later
            home = JobHome(Path(directory), job_id)
            engine = self._engine()
            workers = engine.prepare(request, home)
            blueprint = translate(request, self._settings(request, configuration, workers, home))
            home.acquire()
            try:
                home.write_record(record_of(blueprint))
                self._run(JobMaster(self._specify(request, configuration, blueprint, home), home, engine))
            finally:
                home.release()
        return self._job

    def _engine(self) -> Engine:
        """Tests run the same jobs on other engines."""
        return LocalEngine(self._forget, self._max_epochs, self._before_epoch)

    def _run(self, job: JobMaster) -> None:
        self._job, self.snapshots = job, job.snapshots
        job.start()
        job.run()

    def _before_epoch(self, epochs: int) -> None:
        self.epochs = epochs
        if epochs == self._stop_after:
            self._stop_after = None
            self._job.stop(self._savepoint_directory, drain=False).add_done_callback(self._take_path)

    def _take_path(self, path: Future[str]) -> None:
        self.savepoint_path = path.result()

    def _settings(
        self, request: JobRequest, configuration: Configuration, workers: WorkerEnvironment, home: JobHome
    ) -> JobSettings:
        return JobSettings(
            home.job_id,
            request.name,
            request.job_parameters,
            request.auto_watermark_interval_ms,
            disk_state=self._disk_state or DiskStateSettings.of(configuration),
            log_levels=levels_of(configuration),
            max_state_size=max_state_size(configuration),
            stack_sample_ms=stack_sample_ms(configuration),
            latency_interval_ms=value_of(configuration, "metrics.latency.interval"),
            home=shared_place(configuration, home),
            module_paths=workers.module_paths,
            working_directory=workers.working_directory,
            pyflink_imports=current_run_options().pyflink_imports,
        )

    def _specify(
        self, request: JobRequest, configuration: Configuration, blueprint: JobBlueprint, home: JobHome
    ) -> JobSpec:
        path, leave_out = self._start_from, self._allow_non_restored_state
        if path is None:
            path, leave_out = configured_savepoint(configuration)
        savepoint = None if path is None else prepare_restore(path, blueprint, leave_out)
        wants_restarts = value_of(configuration, "restart-strategy.type") is not None
        return JobSpec(
            blueprint,
            sources_of(request),
            configuration,
            EpochSizer(self._epoch_records, self._epoch_records, _NO_TARGET_MS),
            restart_strategy(configuration) if wants_restarts else NoRestart(),
            self._checkpoints or CheckpointSettings(Pacing(), home.path / "checkpoints"),
            savepoint,
        )
