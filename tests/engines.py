"""Which engines run the jobs of tests: PENSTOCK_TEST_ENGINES names them, as in `"local micro-batch"`.

Without it jobs run in this process, and some of them elsewhere as well.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from typing import Any

import pytest

from penstock.common.options import MICRO_BATCH, RESIDENT
from penstock.control.engine import Engine
from penstock.engines.local.executor import LocalExecutor
from penstock.testing.resident_processes import ProcessHost, ResidentInTests

VARIABLE = "PENSTOCK_TEST_ENGINES"
LOCAL, PROCESSES = "local", "resident-processes"
ON_SPARK = (RESIDENT, MICRO_BATCH)  # in this order: the first is the one whose session has places for its tasks


def named_engines() -> tuple[str, ...]:
    """In the order of their costs; none: each test runs where it usually does."""
    named = os.environ.get(VARIABLE, "").split()
    known = (LOCAL, PROCESSES, *ON_SPARK)
    for name in named:
        if name not in known:
            raise pytest.UsageError(f"{VARIABLE}: there is no engine {name!r}, only {', '.join(known)}")
    return tuple(name for name in known if name in named)


def parameters(engines: Iterable[str]) -> list[Any]:
    """As values for `parametrize`, marked as what needs Spark."""
    return [pytest.param(name, marks=pytest.mark.spark if name in ON_SPARK else ()) for name in engines]


def run_local_jobs_on(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests give to LocalExecutor runs there, with everything that they ask of it."""
    if engine != LOCAL:
        monkeypatch.setattr(LocalExecutor, "_engine", lambda executor: engine_for(engine, executor))


def engine_for(name: str, executor: LocalExecutor) -> Engine:
    wishes = executor._forget, executor._before_epoch
    if name == PROCESSES:
        return ResidentInTests(ProcessHost(), *wishes)
    on_spark = importlib.import_module("tests.engines_on_spark")  # most runs do without the time that PySpark takes
    engine: Engine = on_spark.resident(*wishes) if name == RESIDENT else on_spark.MicroBatchesInTests(*wishes)
    return engine
