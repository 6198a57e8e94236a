"""Accepts jobs for Spark."""

from __future__ import annotations

import importlib
import os
import sys

from penstock.common.configuration import Configuration
from penstock.common.options import AUTO, MICRO_BATCH, RESIDENT, value_of
from penstock.common.run_options import current_run_options
from penstock.control.engine import Engine
from penstock.control.job_record import JobRecord
from penstock.control.job_submission import submit
from penstock.control.running_job import RunningJob
from penstock.engines.spark.engine import SparkEngine, spark_options, streaming_frames_of
from penstock.engines.spark.session import has_places
from penstock.graph.job_request import JobRequest

if "PENSTOCK_CRASH" in os.environ:  # tests of failures; nothing of it is loaded otherwise
    importlib.import_module("penstock.testing.faults").arm()


class SparkExecutor:
    """What runs a program unless it asks for something else."""

    def submit(self, request: JobRequest) -> RunningJob:
        return submit(request, lambda recorded: engine_for(request, recorded))


def engine_for(request: JobRequest, recorded: JobRecord | None) -> Engine:
    """As penstock.engine says, if the job can run there; a job that has run before stays where it was."""
    asked = value_of(Configuration.from_dict(request.configuration), "penstock.engine").strip().lower()
    if streaming_frames_of(request):
        if asked == RESIDENT:
            print(
                "penstock: the job reads a streaming DataFrame with from_spark(), which needs a query of Spark: it "
                "runs on micro-batches although penstock.engine is resident",
                file=sys.stderr,
            )
        return SparkEngine()
    if asked == AUTO and recorded is not None:
        asked = recorded.engine
    elif asked == AUTO:
        asked = RESIDENT if has_places(current_run_options().master, spark_options(request)) else MICRO_BATCH
    if asked == MICRO_BATCH:
        return SparkEngine()
    resident = importlib.import_module("penstock.engines.resident.engine").ResidentEngine
    host = importlib.import_module("penstock.engines.resident.spark_host").SparkHost
    engine: Engine = resident(host())
    return engine
