"""From a program's request to a job that runs: which job it is, whether it may run, and where it goes on."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError
from penstock.common.job_status import JobStatus
from penstock.common.options import MICRO_BATCH, RESIDENT, validate, value_of
from penstock.common.run_options import RunOptions, current_run_options
from penstock.common.state_backend_names import max_state_size
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.engine import Engine, WorkerEnvironment
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochStore
from penstock.control.finished_jobs import FinishedJob, FinishedJobs, FinishedRecord, runs_again, why_not_again
from penstock.control.job_epochs import JobSpec
from penstock.control.job_home import JobHome, penstock_home
from penstock.control.job_master import JobMaster
from penstock.control.job_record import JobRecord, check_same_job, record_of
from penstock.control.job_services import rest_service
from penstock.control.program_record import job_id_of, program_record
from penstock.control.restart import restart_strategy
from penstock.control.running_job import RunningJob
from penstock.control.savepoints import prepare_restore
from penstock.graph.job_request import JobRequest
from penstock.graph.stream_graph import upstream_first
from penstock.plan.translation import translate
from penstock.runtime.blueprint import DiskStateSettings, JobBlueprint, JobSettings
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import SourcePlanner
from penstock.runtime.user_log import levels_of
from penstock.storage.locations import absolute_location, savepoint_location, storage_at


def submit(request: JobRequest, engine_for: Callable[[JobRecord | None], Engine]) -> RunningJob:
    """The job runs when this returns; one that has ended in an earlier process is only told about.

    `engine_for` gets the record of the job if it has run before.
    """
    home = penstock_home(value_of(Configuration.from_dict(request.configuration), "penstock.home"))
    options = current_run_options()
    job_id, number = _next_job(options)
    job_home = JobHome(home, job_id)
    job_home.acquire(options.take_over)
    recorded = job_home.read_record()
    try:
        ended = FinishedJobs(home).get(job_id)
        if ended is not None and not runs_again(ended):
            return _finished_job(ended, job_home)
        engine = engine_for(recorded)
        request = replace(request, configuration={**request.configuration, "penstock.engine": engine.name})
        configuration = Configuration.from_dict(request.configuration)
        validate(configuration)
        spec = _specify(request, configuration, engine.prepare(request, job_home), job_home, recorded)
        job_home.write_record(record_of(spec.blueprint, program_record(options, number), engine.name))
        options.savepoint_path = None
        job = JobMaster(spec, job_home, engine, rest_service())
        job.start()
    except BaseException:
        if recorded is None:
            job_home.remove()
        else:
            job_home.release()
        raise
    job.run_in_background()
    return job


def sources_of(request: JobRequest) -> dict[int, SourcePlanner]:
    return {node.id: node.params["source"] for node in upstream_first(request.sinks) if "source" in node.params}


def _next_job(options: RunOptions) -> tuple[str, int]:
    """The id from the command line is for the program's first job; those of the others follow from it."""
    options.job_id = options.job_id or uuid.uuid4().hex
    number, options.jobs_submitted = options.jobs_submitted, options.jobs_submitted + 1
    return job_id_of(options.job_id, number), number


def _finished_job(ended: FinishedRecord, home: JobHome) -> RunningJob:
    home.remove()  # there are still files if the process was killed right at its end
    if ended.state is JobStatus.FINISHED:
        print(f"penstock: {why_not_again(ended)}", file=sys.stderr)
    return FinishedJob(ended)


def _specify(
    request: JobRequest,
    configuration: Configuration,
    workers: WorkerEnvironment,
    home: JobHome,
    recorded: JobRecord | None,
) -> JobSpec:
    blueprint = translate(request, _settings(request, configuration, workers, home))
    if recorded is not None:
        check_same_job(recorded, record_of(blueprint))
    checkpoints = CheckpointSettings.of(configuration, home.home, home.job_id)
    return JobSpec(
        blueprint,
        sources_of(request),
        configuration,
        EpochSizer(
            value_of(configuration, "penstock.epoch.initial-records"),
            value_of(configuration, "penstock.epoch.max-records"),
            value_of(configuration, "penstock.epoch.target-ms"),
        ),
        restart_strategy(configuration),
        checkpoints,
        _savepoint_to_start_from(blueprint, home.epochs, recorded, checkpoints, configuration),
    )


def _savepoint_to_start_from(
    blueprint: JobBlueprint,
    epochs: Path,
    recorded: JobRecord | None,
    checkpoints: CheckpointSettings,
    configuration: Configuration,
) -> Savepoint | None:
    """The one from the command line is for the program's first job; a job that has an epoch goes on from that.

    Micro-batches may run the first one again although it has a record, if the driver died before Spark's commit.
    """
    options = current_run_options()
    if recorded is not None:
        repeatable = 1 if recorded.engine == MICRO_BATCH else 0
        if EpochStore(epochs, checkpoints.way_out).latest.epoch > repeatable:
            return None
        before = None if recorded.program is None else recorded.program.savepoint_path
        options.savepoint_path = options.savepoint_path or before
    path, leave_out = options.savepoint_path, options.allow_non_restored_state
    if path is None:
        path, leave_out = configured_savepoint(configuration)
    if path is None:
        return None
    if any(operator.native for operator in blueprint.operators):
        raise NotSupportedError("a job that reads a streaming Spark DataFrame cannot start from a savepoint")
    return prepare_restore(path, blueprint, leave_out)


def configured_savepoint(configuration: Configuration) -> tuple[str | None, bool]:
    """What the program itself says, under the newer or the older names."""
    families = ("execution.state-recovery", "execution.savepoint")
    path = next((given for family in families if (given := value_of(configuration, f"{family}.path"))), None)
    leave_out = any(value_of(configuration, f"{family}.ignore-unclaimed-state") for family in families)
    return None if path is None else savepoint_location(path), leave_out


def _settings(
    request: JobRequest, configuration: Configuration, workers: WorkerEnvironment, home: JobHome
) -> JobSettings:
    return JobSettings(
        job_id=home.job_id,
        home=shared_place(configuration, home),
        job_name=request.name,
        job_parameters=request.job_parameters,
        auto_watermark_interval_ms=request.auto_watermark_interval_ms,
        chunk_records=value_of(configuration, "penstock.chunk.records"),
        module_paths=workers.module_paths,
        working_directory=workers.working_directory,
        pyflink_imports=current_run_options().pyflink_imports,
        disk_state=DiskStateSettings.of(configuration),
        log_levels=levels_of(configuration),
        max_state_size=max_state_size(configuration),
        stack_sample_ms=stack_sample_ms(configuration),
        latency_interval_ms=value_of(configuration, "metrics.latency.interval"),
    )


def shared_place(configuration: Configuration, home: JobHome) -> str:
    """The job's directory, unless tasks are to share a store instead."""
    store = value_of(configuration, "penstock.resident.state-dir")
    if store is None or value_of(configuration, "penstock.engine") != RESIDENT:
        return str(home.path)
    place = f"{absolute_location(store)}/{home.job_id}"
    home.keep_elsewhere(storage_at(place))
    return place


def stack_sample_ms(configuration: Configuration) -> int:
    if not value_of(configuration, "rest.flamegraph.enabled"):
        return 0
    return int(value_of(configuration, "rest.flamegraph.delay-between-samples"))
