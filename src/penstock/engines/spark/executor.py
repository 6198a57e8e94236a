"""Accepts jobs for Spark."""

from __future__ import annotations

import importlib
import os

from penstock.control.job_submission import submit
from penstock.control.running_job import RunningJob
from penstock.engines.spark.engine import SparkEngine
from penstock.graph.job_request import JobRequest

if "PENSTOCK_CRASH" in os.environ:  # tests of failures; nothing of it is loaded otherwise
    importlib.import_module("penstock.testing.faults").arm()


class SparkExecutor:
    """What runs a program unless it asks for something else."""

    def submit(self, request: JobRequest) -> RunningJob:
        return submit(request, SparkEngine())
