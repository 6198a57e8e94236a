"""SQL on Spark that is stopped with a savepoint, goes on with another parallelism, and loses a worker there."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from tests.engine import sql_program
from tests.engine.sql_program import QUERIES, DyingOnce, final_tables, start, write_inputs
from tests.patience import patience

from penstock.common import Configuration
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor

pytestmark = [pytest.mark.spark, pytest.mark.soak]

ROWS = 2_000


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("inputs")
    write_inputs(directory, ROWS)
    cloudpickle.register_pickle_by_value(sql_program)  # workers cannot import it
    return directory


@pytest.fixture(scope="module")
def expected(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[Any]]:
    outputs = tmp_path_factory.mktemp("expected")
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    env.set_parallelism(1)
    start(env, inputs, outputs).wait()
    return final_tables(outputs)


@pytest.mark.parametrize("engine", ["micro-batch", "resident"])
def test_final_tables_are_those_of_an_undisturbed_run(
    spark_env: Callable[..., Any],
    spark_home: Path,
    inputs: Path,
    expected: dict[str, Counter[Any]],
    tmp_path: Path,
    engine: str,
) -> None:
    outputs = tmp_path / "out"
    options = {
        "penstock.engine": engine,
        "penstock.epoch.initial-records": "400",
        "penstock.epoch.max-records": "400",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    job = start(spark_env(2, options), inputs, outputs).get_job_client()
    limit = time.monotonic() + patience(120)
    while not list(outputs.glob("*/.part-*")) and time.monotonic() < limit:
        time.sleep(0.05)
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    half = final_tables(outputs)
    assert half["grouped"] != expected["grouped"], "the job had ended before it was stopped"

    before = current_run_options()
    set_run_options(
        RunOptions(master="local[2]", configuration={"penstock.home": str(spark_home)}, savepoint_path=savepoint)
    )
    try:
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
        env.set_parallelism(3)
        dying = DyingOnce(ROWS - 100, tmp_path / "died")
        start(env, inputs, outputs, dying).wait(int(patience(240) * 1000))
    finally:
        set_run_options(before)
    assert (tmp_path / "died").exists()
    found = final_tables(outputs)
    for name in QUERIES:
        assert found[name] == expected[name], name
