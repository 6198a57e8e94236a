"""How many tasks a standalone cluster can run at the same time."""

from __future__ import annotations

import pytest

from penstock.engines.resident.spark_capacity import tasks_on

MUCH = 1 << 31


@pytest.mark.parametrize(
    ("workers", "task_cores", "memory", "executor_cores", "most_cores", "tasks"),
    [
        ([(1, 1024)], 1, 1024, None, MUCH, 1),
        ([(4, 1024), (3, 2048)], 1, 1024, None, MUCH, 7),
        ([(4, 1024), (3, 2048)], 2, 1024, None, MUCH, 3),  # a core of each worker is left over
        ([(4, 1024), (3, 2048)], 1, 2000, None, MUCH, 3),  # the first has no room for an executor
        ([(4, 1024), (3, 2048)], 1, 1024, 2, MUCH, 4),  # the memory of the first is enough for one executor
        ([(4, 1024), (3, 2048)], 1, 1024, None, 5, 5),  # spark.cores.max
        ([], 1, 1024, None, MUCH, 0),
    ],
)
def test_tasks_of_a_cluster(
    workers: list[tuple[int, int]],
    task_cores: int,
    memory: int,
    executor_cores: int | None,
    most_cores: int,
    tasks: int,
) -> None:
    assert tasks_on(workers, task_cores, memory, executor_cores, most_cores) == tasks
