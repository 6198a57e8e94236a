"""Accepts jobs for Spark."""

from __future__ import annotations

import importlib
import os
import sys

from penstock.common.configuration import Configuration
from penstock.common.options import RESIDENT, value_of
from penstock.control.engine import Engine
from penstock.control.job_submission import submit
from penstock.control.running_job import RunningJob
from penstock.engines.spark.engine import SparkEngine, streaming_frames_of
from penstock.graph.job_request import JobRequest

if "PENSTOCK_CRASH" in os.environ:  # tests of failures; nothing of it is loaded otherwise
    importlib.import_module("penstock.testing.faults").arm()


class SparkExecutor:
    """What runs a program unless it asks for something else."""

    def submit(self, request: JobRequest) -> RunningJob:
        return submit(request, engine_for(request))


def engine_for(request: JobRequest) -> Engine:
    """As penstock.engine says, if the job can run there."""
    if value_of(Configuration.from_dict(request.configuration), "penstock.engine").strip().lower() != RESIDENT:
        return SparkEngine()
    if streaming_frames_of(request):
        print(
            "penstock: the job reads a streaming DataFrame with from_spark(), which needs a query of Spark: it runs on "
            "micro-batches although penstock.engine is resident",
            file=sys.stderr,
        )
        return SparkEngine()
    resident = importlib.import_module("penstock.engines.resident.engine").ResidentEngine
    host = importlib.import_module("penstock.engines.resident.spark_host").SparkHost
    engine: Engine = resident(host())
    return engine
