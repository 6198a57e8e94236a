"""Tasks of Spark that serve one job after the other."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

pytestmark = [pytest.mark.spark, pytest.mark.parametrize("engine", ["resident"])]


def test_a_job_is_served_by_the_tasks_of_the_one_before(spark_env: EnvironmentFactory) -> None:
    before = _tasks(spark_env)
    jobs = (_tasks(spark_env) for _ in range(10))  # one that begins too soon gets new tasks, and the next one any
    assert any(before & tasks for tasks in jobs)


def test_a_task_that_dies_while_it_waits_is_not_missed(spark_env: EnvironmentFactory) -> None:
    before = _tasks(spark_env)
    for _, process in before:
        os.kill(process, signal.SIGKILL)
    assert not _tasks(spark_env) & before


def _tasks(spark_env: EnvironmentFactory) -> set[tuple[int, int]]:
    """Spark's number of the attempt, and the process, of whoever hosts a job of two subtasks."""
    env = spark_env(parallelism=2)
    numbers = env.from_collection(list(range(20))).rebalance().map(_who)
    with numbers.execute_and_collect() as found:
        return set(found)


def _who(_: Any) -> tuple[int, int]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.taskAttemptId(), os.getpid()


def test_a_task_that_dies_in_a_later_job_is_replaced(spark_env: EnvironmentFactory, tmp_path: Path) -> None:
    """What Spark itself starts again is a task of the first job, which nobody waits for any more."""
    marker = tmp_path / "killed"

    def die_once(number: int) -> int:
        if number == 7 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    _tasks(spark_env)
    env = spark_env(parallelism=2)
    with env.from_collection(list(range(20))).rebalance().map(die_once).execute_and_collect() as found:
        assert sorted(found) == list(range(20))
    assert marker.exists()
