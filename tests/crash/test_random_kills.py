"""One job that is killed again and again, whoever and whenever, goes on each time and ends with exact results."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.crash.killed_job import KilledJob, members_of_session

pytestmark = pytest.mark.crash

WANTED = 500
BUDGET_SECONDS = 120
RECORDS_OF_SOAK = {"micro-batch": 700_000, "resident": 1_000_000}
# Epochs as long as those of micro-batches: there is to be input left until the last kill.
OPTIONS = {"micro-batch": {}, "resident": {"penstock.resident.epoch-interval": "400 ms"}}
AT_LEAST = 8
LAST_RUN_EPOCH = 50_000  # what is left when the killing is over


@dataclass
class Killer:
    """Kills a few workers of each start, and at its end the JVM or the driver, so that another start is needed."""

    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0

    def torment(self, job: KilledJob) -> None:
        process = job.start()
        self.starts += 1
        before = self.kills.total()
        job.wait_for_epoch(process)
        for _ in range(self.chance.randrange(8, 20)):
            time.sleep(self.chance.random() * 0.6)
            self._kill(process, "worker")
        self._kill(process, "driver" if self.starts % 2 else "jvm")
        job.wait(process, f"{self.kills.total() - before} kills")

    def _kill(self, process: subprocess.Popen[str], victim: str) -> None:
        members = [
            member for member in members_of_session(process.pid) if _role(member.pid, member.command, process) == victim
        ]
        if not members:
            return
        try:
            os.kill(self.chance.choice(members).pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.kills[victim] += 1


def _role(pid: int, command: str, process: subprocess.Popen[str]) -> str:
    if pid == process.pid:
        return "driver"
    return "jvm" if command == "java" else "worker"


@pytest.mark.parametrize("engine", OPTIONS)
def test_random_kills_for_a_while(tmp_path: Path, engine: str) -> None:
    kill_again_and_again(tmp_path, engine, seed=4, records=60_000, budget_seconds=BUDGET_SECONDS / len(OPTIONS))


@pytest.mark.soak
@pytest.mark.parametrize("engine", OPTIONS)
def test_many_random_kills(tmp_path: Path, engine: str) -> None:
    seed = int(os.environ.get("PENSTOCK_SOAK_SEED", random.randrange(1 << 30)))
    print(f"PENSTOCK_SOAK_SEED={seed}")
    kill_again_and_again(tmp_path, engine, seed, records=RECORDS_OF_SOAK[engine], budget_seconds=None)


def kill_again_and_again(directory: Path, engine: str, seed: int, records: int, budget_seconds: float | None) -> None:
    wanted = int(os.environ.get("PENSTOCK_SOAK_KILLS", WANTED))
    job = KilledJob(directory, records, epoch_records=500, engine=engine, **OPTIONS[engine])
    killer = Killer(random.Random(seed))
    began = time.monotonic()
    while killer.kills.total() < wanted and (budget_seconds is None or time.monotonic() - began < budget_seconds):
        killer.torment(job)
        assert not job.finished, f"the input is too short for so many kills\n{job.story()}"
    job.run_to_the_end(epoch_records=LAST_RUN_EPOCH)
    job.assert_complete()
    print(f"seed {seed}: {killer.starts} starts, {dict(killer.kills)} killed in {time.monotonic() - began:.0f} s")
    assert killer.kills.total() >= min(wanted, AT_LEAST), job.story()
    assert set(killer.kills) == {"driver", "jvm", "worker"}, job.story()
