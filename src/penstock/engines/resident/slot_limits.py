"""How many tasks an application can ever run at the same time, as far as its settings say. Nothing of Spark is here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_DYNAMIC = "spark.dynamicAllocation"
# Of cluster managers that start a fixed number of executors: what Spark takes where nothing is set.
_FIXED_EXECUTORS = ("yarn", "k8s://")
_EXECUTORS = "2"
_EXECUTOR_CORES = "1"
_WITHOUT_END = 1 << 31


def tasks_by_settings(master: str, settings: Mapping[str, str]) -> int | None:
    """None: they set no limit that this cluster manager is known to keep to."""
    if master.startswith("local-cluster["):
        return _of_local_cluster(master, settings)
    fixed = master.startswith(_FIXED_EXECUTORS)
    cores = settings.get("spark.executor.cores", _EXECUTOR_CORES if fixed else None)
    if _is_dynamic(settings):
        executors = settings.get(f"{_DYNAMIC}.maxExecutors")
    else:
        executors = settings.get("spark.executor.instances", _EXECUTORS) if fixed else None
    if executors is None or cores is None:
        return None
    return int(executors) * (int(cores) // task_cores(settings))


def task_cores(settings: Mapping[str, str]) -> int:
    return int(settings.get("spark.task.cpus", "1"))


def _is_dynamic(settings: Mapping[str, str]) -> bool:
    return settings.get(f"{_DYNAMIC}.enabled", "false").lower() == "true"


def _of_local_cluster(master: str, settings: Mapping[str, str]) -> int | None:
    sizes = re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*]", master)
    if sizes is None:
        return None
    workers, cores, megabytes = (int(size) for size in sizes.groups())
    wanted = settings.get("spark.executor.cores")
    most_cores = int(settings.get("spark.cores.max", _WITHOUT_END))
    # Whether their memory is enough for an executor is found out by Spark.
    return tasks_on(
        [(cores, megabytes)] * workers, task_cores(settings), 1, None if wanted is None else int(wanted), most_cores
    )


def tasks_on(
    workers: Iterable[tuple[int, int]], task_cores: int, memory: int, executor_cores: int | None, most_cores: int
) -> int:
    """Of workers with so many cores and megabytes; an executor that may have any number of cores takes all of one."""
    tasks = 0
    for cores, megabytes in workers:
        if executor_cores is not None:
            tasks += min(cores // executor_cores, megabytes // memory) * (executor_cores // task_cores)
        elif megabytes >= memory:
            tasks += cores // task_cores
    return min(tasks, most_cores // task_cores)
