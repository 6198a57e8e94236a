"""A standalone Spark cluster on this machine: a master, and workers with directories of their own.

What the driver has on its disk can be hidden from the workers, as on machines that share none: each gets a mount
namespace of its own, with nothing in those places.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
import pytest
from tests.services.processes import free_port, port_is_open, server_process, wait_until

from penstock.engines.spark.java import java_home

_SPARK_HOME = Path(pyspark.__file__).parent
_SPARK_CLASS = _SPARK_HOME / "bin" / "spark-class"
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_START_SECONDS = 60


@dataclass
class SparkCluster:
    url: str
    workers: list[int] = field(default_factory=list)  # process ids, which are also those of their sessions

    def executors(self) -> list[int]:
        """Processes of the executors that run now."""
        return [pid for pid, session in _processes_that_run(_EXECUTOR) if session in self.workers]

    def kill_executor(self, number: int) -> None:
        """One of those that run, with its Python workers."""
        executors = sorted(self.executors())
        victim = executors[number % len(executors)]
        send_signal(signal.SIGKILL, [victim, *descendants(victim)])


@contextlib.contextmanager
def spark_cluster(
    directory: Path, hidden: Sequence[Path] = (), environment: Mapping[str, str] | None = None, workers: int = 2
) -> Iterator[SparkCluster]:
    """Workers have one core each."""
    directory.mkdir(parents=True, exist_ok=True)
    if hidden:
        _need_mount_namespaces()
    settings = {"JAVA_HOME": java_home(), "SPARK_HOME": str(_SPARK_HOME), **(environment or {})}
    port = free_port()
    master = [str(_SPARK_CLASS), "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    # Executors are killed on purpose: the master must not give the application up for it.
    patient = {**settings, "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1"}
    with contextlib.ExitStack() as stack:
        log = directory / "master.log"
        stack.enter_context(
            server_process([*master, "--webui-port", "0"], lambda: port_is_open(port), log, patient, _START_SECONDS)
        )
        cluster = SparkCluster(f"spark://127.0.0.1:{port}")
        for number in range(workers):
            process = stack.enter_context(_worker(directory / f"worker-{number}", cluster.url, hidden, settings))
            cluster.workers.append(process.pid)
        wait_until(
            lambda: log.read_text().count("Registering worker") >= workers, "workers to register", _START_SECONDS
        )
        yield cluster


@contextlib.contextmanager
def _worker(
    directory: Path, master: str, hidden: Sequence[Path], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    for name in ("tmp", "local", "work"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    command = [str(_SPARK_CLASS), "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1"]
    command += ["--memory", "1g", "--webui-port", "0", "--work-dir", str(directory / "work"), master]
    if hidden:
        mounts = [f"mount -t tmpfs none {shlex.quote(str(place))}" for place in hidden]
        command = [*_unshare(), "sh", "-c", " && ".join([*mounts, f"exec {shlex.join(command)}"])]
    own = {"TMPDIR": str(directory / "tmp"), "SPARK_LOCAL_DIRS": str(directory / "local")}
    log = directory / "worker.log"
    with server_process(command, log.exists, log, {**environment, **own}, _START_SECONDS) as process:
        yield process


def _unshare() -> list[str]:
    """Propagation is private by itself; somebody who is not root is so in a name space of users."""
    return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def _need_mount_namespaces() -> None:
    tried = [*_unshare(), "true"]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("this machine gives processes no mount name spaces, so nothing can be hidden from workers")


def _processes_that_run(name: str) -> Iterator[tuple[int, int]]:
    """Process and session ids."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and name.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                yield int(entry.name), os.getsid(int(entry.name))


def send_signal(number: int, processes: Iterable[int]) -> None:
    """To those that are still there."""
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def descendants(ancestor: int) -> list[int]:
    children = (Path("/proc") / str(ancestor) / "task").glob("*/children")
    found = [int(pid) for file in children for pid in file.read_text().split()]
    return [*found, *(pid for child in found for pid in descendants(child))]
