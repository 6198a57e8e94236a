"""One job under one id, started and killed until it has finished, and a look at its visible results each time."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.crash.page_views import expected_lines
from tests.patience import patience

from penstock.testing.faults import VARIABLE

PROGRAM = Path(__file__).with_name("page_view_job.py")
PENSTOCK = Path(sys.executable).with_name("penstock")
SINKS = ("reports", "running", "two-phase", "write-ahead")
_START_TIMEOUT = 240
_LAST_PROCESS_TIMEOUT = 60


class KilledJob:
    """Everything about the job lies below one directory of the test."""

    program = PROGRAM
    master = "local[2]"
    sinks: tuple[str, ...] = SINKS

    def __init__(
        self,
        directory: Path,
        records: int,
        epoch_records: int,
        state_backend: str = "hashmap",
        engine: str = "micro-batch",
        **options: str,
    ) -> None:
        self.job_id = uuid.uuid4().hex
        self.home = directory / "home"
        self.results = directory / "results"
        directory.mkdir(exist_ok=True)
        self._directory = directory
        self._records = records
        self._expected = self.expected()
        self._epoch_records = epoch_records
        self._state_backend = state_backend
        self._options = {"penstock.engine": engine, **options}
        self._starts = 0
        self.history: list[str] = []

    def expected(self) -> dict[str, Counter[str]]:
        reports, running = expected_lines(self._records)
        return dict(zip(SINKS, (reports, running, running, running), strict=True))

    def arguments(self) -> list[str]:
        return [str(self.results), str(self._records)]

    @property
    def files(self) -> Path:
        return self.home / "jobs" / self.job_id

    def newest_epoch(self) -> str:
        """The name of a file, which is empty before the first epoch."""
        return max((path.name for path in self.files.glob("run-*/epochs/*.epoch")), default="")

    def wait_for_epoch(self, process: subprocess.Popen[str]) -> None:
        """Until this start has completed an epoch, or ended: a job that never gets so far never finishes either."""
        before = self.newest_epoch()
        while process.poll() is None and self.newest_epoch() == before:
            time.sleep(0.05)

    @property
    def finished(self) -> bool:
        """A job keeps its files until everything is committed."""
        return self._starts > 0 and not self.files.exists()

    def start(
        self, *crashes: str, savepoint: bool = False, take_over: bool = False, epoch_records: int | None = None
    ) -> subprocess.Popen[str]:
        """Passes of crash points are counted over all processes of this start."""
        self._starts += 1
        plans = [f"{crash}@{self._directory}/passes-{self._starts}-{n}" for n, crash in enumerate(crashes)]
        environment = {**os.environ, "PENSTOCK_HOME": str(self.home), VARIABLE: ",".join(plans)}
        environment.pop("PENSTOCK_SOAK", None)
        if not plans:
            del environment[VARIABLE]
        arguments = self.arguments()
        if savepoint:
            arguments.append(str(self._directory / "savepoints"))
        options = ["--master", self.master, "--job-id", self.job_id, *(["--take-over"] if take_over else [])]
        settings = {
            "execution.checkpointing.interval": "1s",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000",
            "restart-strategy.fixed-delay.delay": "100ms",
            "state.backend.type": self._state_backend,
            **self._options,
            "penstock.epoch.initial-records": epoch_records or self._epoch_records,
            "penstock.epoch.max-records": epoch_records or self._epoch_records,
        }
        options += [f"-D{key}={value}" for key, value in settings.items()]
        return subprocess.Popen(
            [str(PENSTOCK), "run", *options, str(self.program), *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *crashes: str, savepoint: bool = False, epoch_records: int | None = None) -> int:
        """One start, to its end; then what is visible may be too little, but nothing wrong and nothing twice."""
        process = self.start(*crashes, savepoint=savepoint, epoch_records=epoch_records)
        return self.wait(process, ", ".join(crashes) or "undisturbed")

    def wait(self, process: subprocess.Popen[str], what: str) -> int:
        began = time.monotonic()
        try:
            output, _ = process.communicate(timeout=patience(_START_TIMEOUT))
        except subprocess.TimeoutExpired as late:
            said = (late.output or b"").decode(errors="replace")
            raise AssertionError(
                f"{what}: no end after {patience(_START_TIMEOUT):.0f} s\n{self.story()}\n{said[-4000:]}"
            ) from None
        finally:
            if process.poll() is None:
                signal_session(process.pid, signal.SIGKILL)
        took = f"{time.monotonic() - began:.0f} s"
        self.history.append(f"{what}: code {process.returncode} after {took} {output.strip()[-600:]}")
        for sink in self.sinks:
            wrong = self.visible(sink) - self._expected[sink]
            assert not wrong, f"{sink}: wrong or twice: {wrong.most_common(5)}\n{self.story()}"
        return int(process.returncode)

    def run_to_the_end(self, starts: int = 3, epoch_records: int | None = None) -> None:
        for _ in range(starts):
            if self.finished or self.run(epoch_records=epoch_records) == 0:
                return
        raise AssertionError(f"the job does not finish\n{self.story()}")

    def visible(self, sink: str) -> Counter[str]:
        if sink == "write-ahead":
            return self._logged(self.results / "write-ahead.sqlite")
        files = [path for path in (self.results / sink).rglob("*") if path.is_file() and path.name[0] != "."]
        return Counter(line for path in files for line in path.read_text().splitlines())

    def _logged(self, path: Path) -> Counter[str]:
        if not path.exists():
            return Counter()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            made = connection.execute("select 1 from sqlite_master where name = 'log'").fetchone()
            return Counter(value for (value,) in connection.execute("select value from log")) if made else Counter()

    def assert_complete(self) -> None:
        print(self.story())
        for sink in self.sinks:
            missing = self._expected[sink] - self.visible(sink)
            assert not missing, f"{sink}: lost: {missing.most_common(5)}\n{self.story()}"

    def story(self) -> str:
        return "\n".join(["what happened:", *self.history])


@dataclass(frozen=True)
class Member:
    """A process of a job, as /proc shows it."""

    pid: int
    command: str
    state: str


def members_of_session(session: int) -> list[Member]:
    """The driver has a session of its own; the JVM and its workers stay in it, whoever their parent is."""
    members = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                command, fields = _STAT.fullmatch((entry / "stat").read_text().strip()).groups()  # type: ignore[union-attr]
                state, _, _, own, *_ = fields.split()
                if int(own) == session and state != "Z":
                    members.append(Member(int(entry.name), command, state))
        except OSError:
            pass  # it has ended meanwhile
    return members


_STAT = re.compile(r"\d+ \((.*)\) (.*)", re.DOTALL)


def signal_session(session: int, number: signal.Signals) -> None:
    for member in members_of_session(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member.pid, number)


def wait_until_frozen(process: subprocess.Popen[str], command: str | None = None) -> None:
    """Until all processes of the job are stopped, or those that run the command."""
    deadline = time.monotonic() + patience(_START_TIMEOUT)
    while time.monotonic() < deadline:
        states = {member.state for member in members_of_session(process.pid) if command in (None, member.command)}
        if states == {"T"}:
            return
        assert process.poll() is None, f"ended before it was frozen: {process.communicate()[0]}"
        time.sleep(0.05)
    raise AssertionError("nobody froze the job")


def wait_for_last_process(session: int) -> list[Member]:
    """Who is still there although the driver is long dead; nobody, if all is well."""
    deadline = time.monotonic() + patience(_LAST_PROCESS_TIMEOUT)
    while (members := members_of_session(session)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return members
