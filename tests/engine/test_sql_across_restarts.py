"""SQL that is stopped with a savepoint, goes on with another parallelism, and ends as one that was not stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.engine.sql_program import QUERIES, DyingOnce, final_tables, start, write_inputs

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.testing.resident_processes import ResidentExecutor

ROWS = 1_200


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("inputs")
    write_inputs(directory, ROWS)
    return directory


def run(inputs: Path, outputs: Path, parallelism: int, **settings: Any) -> LocalExecutor:
    executor = LocalExecutor(**settings)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    start(env, inputs, outputs).wait()
    return executor


@pytest.fixture(scope="module")
def expected(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[Any]]:
    outputs = tmp_path_factory.mktemp("expected")
    run(inputs, outputs, 1, epoch_records=1_000_000)
    found = final_tables(outputs)
    assert all(found.values())
    return found


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 1)])
def test_a_savepoint_and_another_parallelism_change_no_table(
    inputs: Path, expected: dict[str, Counter[Any]], tmp_path: Path, before: int, after: int
) -> None:
    outputs, savepoints = tmp_path / "out", str(tmp_path / "savepoints")
    stopped = run(inputs, outputs, before, epoch_records=97, stop_after=2, savepoint_directory=savepoints)
    assert stopped.savepoint_path is not None
    half = final_tables(outputs)
    assert half["grouped"] and half["grouped"] != expected["grouped"]
    run(inputs, outputs, after, epoch_records=131, start_from=stopped.savepoint_path)
    found = final_tables(outputs)
    for name in QUERIES:
        assert found[name] == expected[name], name


def test_a_task_that_is_killed_changes_no_table(
    inputs: Path, expected: dict[str, Counter[Any]], tmp_path: Path
) -> None:
    env = StreamExecutionEnvironment(executor=ResidentExecutor(97))
    env.set_parallelism(2)
    start(env, inputs, tmp_path / "out", DyingOnce(ROWS // 2, tmp_path / "died")).wait()
    assert (tmp_path / "died").exists()
    found = final_tables(tmp_path / "out")
    for name in QUERIES:
        assert found[name] == expected[name], name
