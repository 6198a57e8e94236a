"""Hours under load with a kill every minute: exact, and neither memory nor latency grows."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from tests.crash.killed_job import PENSTOCK, members_of_session, signal_session
from tests.patience import patience

pytestmark = pytest.mark.crash

PROGRAM = Path(__file__).with_name("long_run_job.py")
MINUTES = float(os.environ.get("PENSTOCK_SOAK_MINUTES", 120))
RATE, KEYS = 20_000, 100_000
GROWTH = 1.3  # of the last quarter's memory over that of the second


class Ledger:
    """Reads results as they appear, and removes them: every count of a key exactly once, none left out."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._counts = np.zeros(KEYS, np.int64)  # lines of a key
        self._highest = np.zeros(KEYS, np.int64)
        self._sums = np.zeros(KEYS, np.int64)
        self.delays: list[float] = []  # since the last look, in milliseconds

    def look(self) -> None:
        for path in [path for path in self._directory.rglob("part-*") if path.is_file()]:
            seen = path.stat().st_ctime * 1000  # when it got its name
            rows = np.loadtxt(path, np.int64, delimiter=",", ndmin=2)
            path.unlink()
            if len(rows):
                keys, counts, due = rows.T
                np.add.at(self._counts, keys, 1)
                np.add.at(self._sums, keys, counts)
                np.maximum.at(self._highest, keys, counts)
                self.delays += (seen - due).tolist()

    @property
    def total(self) -> int:
        return int(self._counts.sum())

    def check(self) -> None:
        """A key with n lines, whose greatest count is n and whose counts add up to n * (n + 1) / 2, has each once."""
        assert (self._highest == self._counts).all(), "lost or doubled"
        assert (self._sums == self._counts * (self._counts + 1) // 2).all(), "lost or doubled"


def resident_megabytes(session: int) -> float:
    pages = 0
    for member in members_of_session(session):
        try:
            pages += int(Path(f"/proc/{member.pid}/statm").read_text().split()[1])
        except OSError:
            continue  # it has ended meanwhile
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["resident", "micro-batch"])
def test_hours_with_a_kill_every_minute(tmp_path: Path, engine: str) -> None:
    results = tmp_path / "results"
    results.mkdir()
    options = {
        "penstock.engine": engine,
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000000",
        "restart-strategy.fixed-delay.delay": "100ms",
    }
    began, chance = time.time(), random.Random(1)
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(
        [PENSTOCK, "run", "--master", "local[2]", *(f"-D{key}={value}" for key, value in options.items())]
        + [str(PROGRAM), str(results), str(RATE), str(KEYS), str(began)],
        env={**os.environ, "PENSTOCK_HOME": str(tmp_path / "home")},
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    ledger, memory, minute = Ledger(results), [], 0
    try:
        while time.time() < began + MINUTES * 60:
            assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
            time.sleep(0.05)
            ledger.look()
            if time.time() >= began + 60 * (minute + 1):
                minute += 1
                memory.append(resident_megabytes(process.pid))
                p50, p99 = np.percentile(ledger.delays, [50, 99]) if ledger.delays else (np.nan, np.nan)
                print(
                    f"minute {minute}: {ledger.total:,} records, {memory[-1]:.0f} MB, p50 {p50:.0f}, p99 {p99:.0f} ms"
                )
                ledger.delays.clear()
                workers = [
                    m.pid for m in members_of_session(process.pid) if m.command != "java" and m.pid != process.pid
                ]
                if workers:  # otherwise it has not started yet
                    os.kill(chance.choice(workers), signal.SIGKILL)
        process.send_signal(signal.SIGINT)
        process.wait(patience(60))
        ledger.look()
    finally:
        signal_session(process.pid, signal.SIGKILL)
    ledger.check()
    assert ledger.total > RATE * MINUTES * 60 * 0.8, "it has fallen behind"
    quarter = max(1, len(memory) // 4)
    assert np.mean(memory[-quarter:]) < GROWTH * np.mean(memory[quarter : 2 * quarter]), memory
