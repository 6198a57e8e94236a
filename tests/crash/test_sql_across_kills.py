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
from tests.engine.sql_program import QUERIES, DyingOnce, WaitingOnce, final_tables, start, write_inputs
from tests.patience import patience

from penstock.common import Configuration
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor

pytestmark = [pytest.mark.spark]

SHORT, LONG = 400, 5_000


@pytest.mark.parametrize(
    ("rows", "engine", "backend"),
    [
        pytest.param(SHORT, "resident", "hashmap"),
        *(
            pytest.param(LONG, engine, backend, marks=pytest.mark.soak)
            for engine in ("micro-batch", "resident")
            for backend in ("hashmap", "rocksdb")
        ),
    ],
)
def test_final_tables_are_those_of_an_undisturbed_run(
    spark_env: Callable[..., Any], spark_home: Path, tmp_path: Path, rows: int, engine: str, backend: str
) -> None:
    inputs, outputs = tmp_path / "in", tmp_path / "out"
    inputs.mkdir()
    write_inputs(inputs, rows)
    cloudpickle.register_pickle_by_value(sql_program)  # workers cannot import it
    expected = undisturbed(inputs, tmp_path / "expected")
    options = {
        "penstock.engine": engine,
        "state.backend.type": backend,
        "penstock.epoch.initial-records": "400",
        "penstock.epoch.max-records": "400",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    savepoint = stopped_half_way(spark_env(2, options), inputs, outputs, tmp_path, rows)
    half = final_tables(outputs)
    assert half["grouped"], "nothing was there when the job was stopped"
    assert half["grouped"] != expected["grouped"], "the job had ended before it was stopped"

    before = current_run_options()
    set_run_options(
        RunOptions(master="local[2]", configuration={"penstock.home": str(spark_home)}, savepoint_path=savepoint)
    )
    try:
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
        env.set_parallelism(3)
        dying = DyingOnce(rows - rows // 10, tmp_path / "died")
        start(env, inputs, outputs, dying).wait(int(patience(240) * 1000))
    finally:
        set_run_options(before)
    assert (tmp_path / "died").exists()
    found = final_tables(outputs)
    for name in QUERIES:
        assert found[name] == expected[name], name


def undisturbed(inputs: Path, outputs: Path) -> dict[str, Counter[Any]]:
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    env.set_parallelism(1)
    start(env, inputs, outputs).wait()
    return final_tables(outputs)


def stopped_half_way(env: Any, inputs: Path, outputs: Path, scratch: Path, rows: int) -> str:
    """The path of the savepoint: it is asked for while a row in the middle waits."""
    reached, released = scratch / "reached", scratch / "released"
    job = start(env, inputs, outputs, WaitingOnce(rows // 2, reached, released)).get_job_client()
    try:
        limit = time.monotonic() + patience(120)
        while not reached.exists():
            assert time.monotonic() < limit, "the job did not get to its middle"
            time.sleep(0.05)
        savepoint = job.stop_with_savepoint(False, str(scratch / "savepoints"))
    finally:
        released.touch()
    return str(savepoint.result())
