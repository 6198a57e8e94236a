"""A manager as a process that tests may kill, and what its jobs have written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.patience import patience

from penstock.client import PenstockClient, find_manager

PROGRAMS = Path(__file__).parent / "programs"
# Of slow records few make an epoch, so that a job that is killed has something to go on from.
SMALL_EPOCHS = {"penstock.epoch.initial-records": "20", "penstock.epoch.max-records": "50"}
_ENDED = ("FINISHED", "CANCELED", "FAILED")


def until(what: str, condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Polls; fails when the condition does not come true in a time that fits the load of the machine."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < patience(seconds), f"in vain waited for: {what}"
        time.sleep(0.05)


class ManagerProcess:
    def __init__(self, home: Path, slots: int | None = 8, **settings: str) -> None:
        """Without a number of slots there are as many as the machine has room for."""
        self.home = home
        chosen = {"rest.port": "0", **settings}
        if slots is not None:
            chosen["penstock.cluster.slots"] = str(slots)
        self._settings = [word for key, value in chosen.items() for word in ("-D", f"{key}={value}")]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> PenstockClient:
        self.home.mkdir(parents=True, exist_ok=True)
        with open(self.home / "manager.out", "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "penstock.cli.main", "cluster", "start", "--foreground", *self._settings],
                env={**os.environ, "PENSTOCK_HOME": str(self.home)},
                stdout=log,
                stderr=log,
            )
        until("a manager that listens", lambda: find_manager(self.home) is not None or self._has_ended())
        client = find_manager(self.home)
        assert client is not None, (self.home / "manager.out").read_text()
        return client

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ends jobs first: nothing that a test starts may survive it."""
        client = find_manager(self.home)
        if client is not None:
            for job in client.jobs():
                if job["state"] not in _ENDED:
                    client.job(job["jid"]).cancel()
            until("the end of all jobs", lambda: all(job["state"] in _ENDED for job in client.jobs()))
            client.shut_down()
        if self._process is not None:
            self._process.wait(patience(20))

    def _has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None


def driver_of(home: Path, job_id: str) -> int | None:
    """The process that holds the job."""
    try:
        words = (home / "jobs" / job_id / "owner").read_text().split()
    except OSError:
        return None
    return int(words[1]) if len(words) > 1 else None


def drivers_running(home: Path, job_id: str) -> int:
    """How many processes drive the job, whatever the manager thinks; a child looks like its driver until it is another
    program."""
    entry = str(home / "manager" / "jobs" / f"{job_id}.json")
    parents: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"drive" in words and entry.encode() in words:
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
    return sum(parent not in parents for parent in parents.values())


def written(output: Path) -> dict[int, tuple[int, int]]:
    """What is visible in the files of a sink: by remainder the number of running sums, and the largest of them."""
    found: dict[int, tuple[int, int]] = {}
    for path in output.rglob("*"):
        if path.is_file() and not path.name.startswith((".", "_")):
            for line in path.read_text().splitlines():
                remainder, total = (int(word) for word in line.split())
                lines, largest = found.get(remainder, (0, 0))
                found[remainder] = lines + 1, max(total, largest)
    return found


def expected(count: int) -> dict[int, tuple[int, int]]:
    """A number that is lost or counted twice changes one of them."""
    of = {remainder: [n for n in range(1, count + 1) if n % 5 == remainder] for remainder in range(5)}
    return {remainder: (len(numbers), sum(numbers)) for remainder, numbers in of.items()}
