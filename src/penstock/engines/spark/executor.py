"""Accepts jobs for Spark: from a program's request to a job that runs."""

from __future__ import annotations

import importlib
import os
import sys
import uuid
from typing import Any

from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError
from penstock.common.job_status import JobStatus
from penstock.common.options import value_of
from penstock.common.run_options import RunOptions, current_run_options
from penstock.common.state_backend_names import max_state_size
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.epoch_store import EpochStore
from penstock.control.finished_jobs import FinishedJob, FinishedJobs, runs_again, why_not_again
from penstock.control.job_home import JobHome, penstock_home
from penstock.control.job_record import check_same_job, describe_job
from penstock.control.program_record import job_id_of, program_record
from penstock.control.running_job import RunningJob
from penstock.control.savepoints import prepare_restore
from penstock.engines.spark.bounded_frame import BoundedFrame
from penstock.engines.spark.job import SparkJob
from penstock.engines.spark.worker_modules import collect_module_paths, unpack_archives
from penstock.graph.job_request import JobRequest
from penstock.graph.stream_graph import upstream_first
from penstock.plan.translation import translate
from penstock.runtime.blueprint import DiskStateSettings, JobBlueprint, JobSettings
from penstock.runtime.savepoint import Savepoint

if "PENSTOCK_CRASH" in os.environ:  # tests of failures; nothing of it is loaded otherwise
    importlib.import_module("penstock.testing.faults").arm()


class SparkExecutor:
    """The executor behind `env.execute()`."""

    def submit(self, request: JobRequest) -> RunningJob:
        configuration = Configuration.from_dict(request.configuration)
        home = penstock_home(value_of(configuration, "penstock.home"))
        options = current_run_options()
        job_id, number = _next_job(options)
        job_home = JobHome(home, job_id)
        job_home.acquire(options.take_over)
        recorded = job_home.read_record()
        try:
            ended = FinishedJobs(home).get(job_id)
            if ended is not None and not runs_again(ended):
                return _finished_job(ended, job_home)
            _read_bounded_frames(request)
            blueprint = translate(request, _settings(request, configuration, job_home))
            description = describe_job(blueprint)
            if recorded is not None:
                check_same_job(recorded, description)
            checkpoints = CheckpointSettings.of(configuration, home, job_id)
            savepoint = _savepoint_to_start_from(blueprint, job_home, recorded, checkpoints)
            job_home.write_record({**description, "program": program_record(options, options.arguments, number)})
            options.savepoint_path = None
            return SparkJob(request, configuration, blueprint, savepoint, job_home, home / "logs" / "spark.log")
        except BaseException:
            if recorded is None:
                job_home.remove()
            else:
                job_home.release()
            raise


def _next_job(options: RunOptions) -> tuple[str, int]:
    """The id from the command line is for the program's first job; those of the others follow from it."""
    options.job_id = options.job_id or uuid.uuid4().hex
    number, options.jobs_submitted = options.jobs_submitted, options.jobs_submitted + 1
    return job_id_of(options.job_id, number), number


def _finished_job(ended: dict[str, Any], home: JobHome) -> RunningJob:
    home.remove()  # there are still files if the process was killed right at its end
    if ended["state"] == JobStatus.FINISHED.name:
        print(f"penstock: {why_not_again(ended)}", file=sys.stderr)
    return FinishedJob(ended)


def _savepoint_to_start_from(
    blueprint: JobBlueprint, home: JobHome, recorded: dict[str, Any] | None, checkpoints: CheckpointSettings
) -> Savepoint | None:
    """The one from the command line is for the program's first job; a job that has an epoch goes on from that."""
    options = current_run_options()
    if recorded is not None:
        if EpochStore(home.epochs, checkpoints.way_out).latest.epoch > 0:
            return None
        options.savepoint_path = options.savepoint_path or recorded.get("program", {}).get("savepoint_path")
    if options.savepoint_path is None:
        return None
    if any(operator.native for operator in blueprint.operators):
        raise NotSupportedError("a job that reads a streaming Spark DataFrame cannot start from a savepoint")
    return prepare_restore(options.savepoint_path, blueprint, options.allow_non_restored_state)


def _settings(request: JobRequest, configuration: Configuration, home: JobHome) -> JobSettings:
    return JobSettings(
        job_id=home.job_id,
        job_name=request.name,
        job_parameters=request.job_parameters,
        auto_watermark_interval_ms=request.auto_watermark_interval_ms,
        chunk_records=value_of(configuration, "penstock.chunk.records"),
        module_paths=collect_module_paths(request.dependencies, home.path / "python"),
        working_directory=unpack_archives(request.dependencies, home.path / "archives"),
        pyflink_imports=current_run_options().pyflink_imports,
        disk_state=DiskStateSettings.of(configuration),
        max_state_size=max_state_size(configuration),
    )


def _read_bounded_frames(request: JobRequest) -> None:
    """A bounded DataFrame is an ordinary source; only streaming ones are part of the Spark query."""
    for node in upstream_first(request.sinks):
        frame = node.params.get("spark_frame")
        if frame is not None and not frame.isStreaming:
            node.params = {"source": BoundedFrame(frame, node.params.get("event_time"))}
