"""One job under one id, started and killed until it has finished, and a look at its visible results each time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

from tests.crash.page_views import expected_lines

from penstock.testing.faults import VARIABLE

PROGRAM = Path(__file__).with_name("page_view_job.py")
PENSTOCK = Path(sys.executable).with_name("penstock")
SINKS = ("reports", "running")
_START_TIMEOUT = 240
_LAST_PROCESS_TIMEOUT = 60


class KilledJob:
    """Everything about the job lies below one directory of the test."""

    def __init__(self, directory: Path, records: int, epoch_records: int) -> None:
        self.job_id = uuid.uuid4().hex
        self.home = directory / "home"
        self.results = directory / "results"
        directory.mkdir(exist_ok=True)
        self._directory = directory
        self._records = records
        self._expected = dict(zip(SINKS, expected_lines(records), strict=True))
        self._epoch = [f"-Dpenstock.epoch.{name}-records={epoch_records}" for name in ("initial", "max")]
        self._starts = 0
        self.history: list[str] = []

    @property
    def epochs(self) -> Path:
        return self.home / "jobs" / self.job_id / "epochs"

    @property
    def finished(self) -> bool:
        """A job keeps its files until everything is committed."""
        return self._starts > 0 and not (self.home / "jobs" / self.job_id).exists()

    def start(self, *crashes: str, savepoint: bool = False) -> subprocess.Popen[str]:
        """Passes of crash points are counted over all processes of this start."""
        self._starts += 1
        plans = [f"{crash}@{self._directory}/passes-{self._starts}-{n}" for n, crash in enumerate(crashes)]
        environment = {**os.environ, "PENSTOCK_HOME": str(self.home), VARIABLE: ",".join(plans)}
        environment.pop("PENSTOCK_SOAK", None)
        if not plans:
            del environment[VARIABLE]
        arguments = [str(self.results), str(self._records)]
        if savepoint:
            arguments.append(str(self._directory / "savepoints"))
        options = ["--master", "local[2]", "--job-id", self.job_id, "-D", "execution.checkpointing.interval=1s"]
        return subprocess.Popen(
            [str(PENSTOCK), "run", *options, *self._epoch, str(PROGRAM), *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *crashes: str, savepoint: bool = False) -> int:
        """One start, to its end; then what is visible may be too little, but nothing wrong and nothing twice."""
        return self.wait(self.start(*crashes, savepoint=savepoint), ", ".join(crashes) or "undisturbed")

    def wait(self, process: subprocess.Popen[str], what: str) -> int:
        began = time.monotonic()
        try:
            output, _ = process.communicate(timeout=_START_TIMEOUT)
        finally:
            if process.poll() is None:
                kill_session(process.pid)
        took = f"{time.monotonic() - began:.0f} s"
        self.history.append(f"{what}: code {process.returncode} after {took} {output.strip()[-600:]}")
        for sink in SINKS:
            wrong = self.visible(sink) - self._expected[sink]
            assert not wrong, f"{sink}: wrong or twice: {wrong.most_common(5)}\n{self.story()}"
        return int(process.returncode)

    def run_to_the_end(self, starts: int = 3) -> None:
        for _ in range(starts):
            if self.finished or self.run() == 0:
                return
        raise AssertionError(f"the job does not finish\n{self.story()}")

    def visible(self, sink: str) -> Counter[str]:
        files = [path for path in (self.results / sink).rglob("*") if path.is_file() and path.name[0] != "."]
        return Counter(line for path in files for line in path.read_text().splitlines())

    def assert_complete(self) -> None:
        print(self.story())
        for sink in SINKS:
            missing = self._expected[sink] - self.visible(sink)
            assert not missing, f"{sink}: lost: {missing.most_common(5)}\n{self.story()}"

    def story(self) -> str:
        return "\n".join(["what happened:", *self.history])


def members_of_session(session: int) -> list[int]:
    """The driver has a session of its own; the JVM and its workers stay in it, whoever their parent is."""
    members = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                state, _, _, own, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(own) == session and state != "Z":
                    members.append(int(entry.name))
        except OSError:
            pass  # it has ended meanwhile
    return members


def kill_session(session: int) -> None:
    for member in members_of_session(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def wait_for_last_process(session: int) -> list[int]:
    """Who is still there although the driver is long dead; nobody, if all is well."""
    deadline = time.monotonic() + _LAST_PROCESS_TIMEOUT
    while (members := members_of_session(session)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return members
