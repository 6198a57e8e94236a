"""Spark's two engines for the jobs of LocalExecutor, with what tests ask of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.control.engine import EngineJob
from penstock.engines.resident.spark_host import SparkHost
from penstock.engines.spark.engine import SparkEngine
from penstock.testing.resident_processes import ResidentInTests, tell_of_epochs


def resident(forget: bool, before_epoch: Callable[[int], None]) -> ResidentInTests:
    return ResidentInTests(SparkHost(), forget, before_epoch)


class MicroBatchesInTests(SparkEngine):
    """With `forget` every task of Spark has a Python worker of its own, so that each starts from snapshots alone."""

    def __init__(self, forget: bool, before_epoch: Callable[[int], None]) -> None:
        super().__init__()
        self._forget = forget
        self._before_epoch = before_epoch

    def open(self, job: EngineJob) -> None:
        tell_of_epochs(job, self._before_epoch)
        super().open(job)

    def start(self, attempt: int) -> None:
        assert self._session is not None
        java: Any = self._session.sparkContext._jsc
        java.sc().conf().set("spark.python.worker.reuse", str(not self._forget).lower())  # each task looks at it
        super().start(attempt)
