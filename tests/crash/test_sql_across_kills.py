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

pytestmark = [pytest.mark.spark]

SHORT, LONG = (600, 150), (2_000, 200)  # rows, and how many a second


@pytest.mark.parametrize(
    ("size", "engine", "backend"),
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
    spark_env: Callable[..., Any], spark_home: Path, tmp_path: Path, size: tuple[int, int], engine: str, backend: str
) -> None:
    inputs, outputs = tmp_path / "in", tmp_path / "out"
    inputs.mkdir()
    rows, rate = size
    write_inputs(inputs, rows)
    cloudpickle.register_pickle_by_value(sql_program)  # workers cannot import it
    expected = undisturbed(inputs, tmp_path / "expected", rows)
    options = {
        "penstock.engine": engine,
        "state.backend.type": backend,
        "penstock.epoch.initial-records": "400",
        "penstock.epoch.max-records": "400",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    savepoint = stopped_half_way(spark_env(2, options), inputs, outputs, tmp_path, size)
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
        start(env, inputs, outputs, dying, (rows, 10 * rate)).wait(int(patience(240) * 1000))
    finally:
        set_run_options(before)
    assert (tmp_path / "died").exists()
    found = final_tables(outputs)
    for name in QUERIES:
        assert found[name] == expected[name], name


def undisturbed(inputs: Path, outputs: Path, rows: int) -> dict[str, Counter[Any]]:
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    env.set_parallelism(1)
    start(env, inputs, outputs, generated=(rows, 10_000_000)).wait()
    return final_tables(outputs)


def stopped_half_way(env: Any, inputs: Path, outputs: Path, scratch: Path, size: tuple[int, int]) -> str:
    """The path of the savepoint: it is asked for when the first results are there."""
    job = start(env, inputs, outputs, generated=size).get_job_client()
    limit = time.monotonic() + patience(120)
    while not list(outputs.glob("grouped/*part-*")):
        assert time.monotonic() < limit, "nothing came out of the job"
        time.sleep(0.05)
    return str(job.stop_with_savepoint(False, str(scratch / "savepoints")).result())
