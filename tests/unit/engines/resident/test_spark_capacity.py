"""How many tasks a cluster can run at the same time."""

from __future__ import annotations

import pytest

from penstock.engines.resident.slot_limits import tasks_by_settings, tasks_on

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


DYNAMIC = {"spark.dynamicAllocation.enabled": "true"}


@pytest.mark.parametrize(
    ("master", "settings", "tasks"),
    [
        ("yarn", {}, 2),  # Spark starts two executors of one core when nothing is said
        ("yarn", {"spark.executor.instances": "3", "spark.executor.cores": "4"}, 12),
        ("yarn", {"spark.executor.instances": "3", "spark.executor.cores": "5", "spark.task.cpus": "2"}, 6),
        ("yarn", DYNAMIC, None),
        ("yarn", {**DYNAMIC, "spark.executor.instances": "3"}, None),  # it only begins with those
        ("yarn", {**DYNAMIC, "spark.dynamicAllocation.maxExecutors": "4", "spark.executor.cores": "2"}, 8),
        ("k8s://https://somewhere:443", {"spark.executor.instances": "5"}, 5),
        ("spark://somewhere:7077", {"spark.executor.instances": "5"}, None),  # which a standalone master ignores
        ("spark://somewhere:7077", {**DYNAMIC, "spark.dynamicAllocation.maxExecutors": "4"}, None),  # of any size
        ("spark://a:1", {**DYNAMIC, "spark.dynamicAllocation.maxExecutors": "4", "spark.executor.cores": "3"}, 12),
        ("local-cluster[2,3,1024]", {}, 6),
        ("local-cluster[2, 3, 1024]", {"spark.executor.cores": "2"}, 4),
        ("local-cluster[2,3,1024]", {"spark.cores.max": "4"}, 4),
        ("someone-elses://cluster", {"spark.executor.instances": "5", "spark.executor.cores": "1"}, None),
    ],
)
def test_tasks_that_settings_allow(master: str, settings: dict[str, str], tasks: int | None) -> None:
    assert tasks_by_settings(master, settings) == tasks
