"""The cluster as a whole in the shapes of Flink's REST API: overview, workers as task managers, the manager itself."""

from __future__ import annotations

import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from penstock import __version__
from penstock.common.credentials import shown_settings
from penstock.common.job_status import JobStatus
from penstock.control.job_control import JobDescription, WorkerDescription

_FLINK = "2.3.0"  # whose interface this is
_COUNTED_AS = {
    JobStatus.FINISHED: "jobs-finished",
    JobStatus.CANCELED: "jobs-cancelled",
    JobStatus.FAILED: "jobs-failed",
}
_RUNNING = "jobs-running"

Features = TypedDict("Features", {"web-submit": bool, "web-cancel": bool, "web-rescale": bool, "web-history": bool})
DashboardConfig = TypedDict(
    "DashboardConfig",
    {
        "refresh-interval": int,
        "timezone-name": str,
        "timezone-offset": int,
        "flink-version": str,
        "flink-revision": str,
        "features": Features,
        "penstock-version": str,
    },
)
Overview = TypedDict(
    "Overview",
    {
        "taskmanagers": int,
        "slots-total": int,
        "slots-available": int,
        "jobs-running": int,
        "jobs-finished": int,
        "jobs-cancelled": int,
        "jobs-failed": int,
        "flink-version": str,
        "flink-commit": str,
        "penstock-version": str,
        "penstock": dict[str, int],
    },
)


class TaskManager(TypedDict):
    id: str
    path: str
    dataPort: int
    jmxPort: int
    timeSinceLastHeartbeat: int
    slotsNumber: int
    freeSlots: int
    hardware: dict[str, int]
    metrics: dict[str, float]
    penstock: dict[str, str]


class TaskManagers(TypedDict):
    taskmanagers: list[TaskManager]


class KeyValue(TypedDict):
    key: str
    value: str


class Runtime(TypedDict):
    version: str
    arch: str
    options: list[str]


class Environment(TypedDict):
    jvm: Runtime
    classpath: list[str]


class LogFile(TypedDict):
    name: str
    size: int
    mtime: int


class LogFiles(TypedDict):
    logs: list[LogFile]


def dashboard_config(submits: bool) -> DashboardConfig:
    return {
        "refresh-interval": 3000,
        "timezone-name": time.tzname[0],
        "timezone-offset": -time.timezone * 1000,
        "flink-version": _FLINK,
        "flink-revision": f"penstock {__version__}",
        "features": {"web-submit": submits, "web-cancel": True, "web-rescale": submits, "web-history": False},
        "penstock-version": __version__,
    }


def overview(jobs: Iterable[JobDescription], slots: tuple[int, int]) -> Overview:
    jobs = list(jobs)
    counts = Counter(_COUNTED_AS.get(job.state, _RUNNING) for job in jobs if job.waiting is None)
    return {
        "taskmanagers": len(workers(jobs)),
        "slots-total": slots[0],
        "slots-available": slots[1],
        "jobs-running": counts[_RUNNING],
        "jobs-finished": counts["jobs-finished"],
        "jobs-cancelled": counts["jobs-cancelled"],
        "jobs-failed": counts["jobs-failed"],
        "flink-version": _FLINK,
        "flink-commit": f"penstock {__version__}",
        "penstock-version": __version__,
        "penstock": {"jobs-waiting": sum(job.waiting is not None for job in jobs)},
    }


def workers(jobs: Iterable[JobDescription]) -> list[tuple[JobDescription, WorkerDescription]]:
    """Of running jobs: the processes in which their subtasks are."""
    return [(job, worker) for job in jobs if not job.state.is_globally_terminal_state() for worker in job.workers]


def task_manager(job: JobDescription, worker: WorkerDescription) -> TaskManager:
    slots = sum(
        any(subtask.worker == worker.id for operator in job.operators for subtask in operator.subtasks
            if subtask.index == index)
        for index in range(job.parallelism)
    )  # fmt: skip
    return {
        "id": worker.id,
        "path": f"process {worker.pid} on {worker.host}",
        "dataPort": 0,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": job.started_at + job.duration_ms,
        "slotsNumber": slots,
        "freeSlots": 0,
        "hardware": {"physicalMemory": worker.resident_bytes},
        "metrics": worker_metrics(worker),
        "penstock": {"job": job.job_id},
    }


def worker_metrics(worker: WorkerDescription) -> dict[str, float]:
    return {"Status.Process.Memory.Resident": worker.resident_bytes, "Status.Process.CPU.Time": worker.cpu_seconds}


def key_values(settings: Mapping[str, str]) -> list[KeyValue]:
    return [{"key": key, "value": value} for key, value in sorted(shown_settings(settings).items())]


def started_as(words: Iterable[str]) -> list[str]:
    """A command line up to its program. What options are set to, and what the program was given, may be a password."""
    shown: list[str] = []
    for word in words:
        key, equals, _ = word.partition("=")
        shown.append(f"{key}=*****" if equals else word)
        own_module = shown[-2:-1] == ["-m"] and not word.startswith("penstock")
        if word.endswith((".py", ".zip")) or own_module:
            break
    return shown


def environment() -> Environment:
    version = f"{platform.python_implementation()} {platform.python_version()}"
    runtime: Runtime = {"version": version, "arch": platform.machine(), "options": started_as(sys.orig_argv[1:])}
    return {"jvm": runtime, "classpath": sys.path}


def log_files(files: Mapping[str, Path]) -> LogFiles:
    found: list[LogFile] = []
    for name, path in files.items():
        if path.is_file():
            facts = path.stat()
            found.append({"name": name, "size": facts.st_size, "mtime": int(facts.st_mtime * 1000)})
    return {"logs": found}


def process_metrics() -> dict[str, float]:
    """Of this process and of the machine."""
    import psutil

    process: Any = psutil.Process()
    memory, machine = process.memory_info(), psutil.virtual_memory()
    times = process.cpu_times()
    return {
        "Status.Process.Memory.Resident": memory.rss,
        "Status.Process.CPU.Time": times.user + times.system,
        "Status.Process.Threads.Count": process.num_threads(),
        "System.CPU.Load1min": psutil.getloadavg()[0],
        "System.CPU.Count": psutil.cpu_count(),
        "System.Memory.Total": machine.total,
        "System.Memory.Available": machine.available,
    }
