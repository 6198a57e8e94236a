"""A job that is killed at any moment, in any way, ends with the results of one that is not."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.crash.killed_job import PENSTOCK, PROGRAM, KilledJob, members_of_session, wait_for_last_process

from penstock.control.job_home import JobHome
from penstock.testing.faults import DRIVER_POINTS, WORKER_POINTS

pytestmark = pytest.mark.crash

# The moments at which most can go wrong. A worker's death is repaired within the run, so one start can take it and
# another death; the JVM comes up only behind recovery, so that dying there is cheap.
REPRESENTATIVE = (
    ("during-level-0:3", "after-epoch-record:2"),
    ("during-recovery:1",),
    ("during-level:12:jvm",),
    ("after-state:2", "during-commit:2"),
)


def test_killed_at_representative_moments(tmp_path: Path) -> None:
    job = KilledJob(tmp_path, records=12_000, epoch_records=2_000)
    for crashes in REPRESENTATIVE:
        assert job.run(*crashes) != 0, job.story()
        assert not job.finished, job.story()
    job.run_to_the_end()
    job.assert_complete()


def _every_moment() -> list[tuple[str, bool]]:
    moments = []
    for point in DRIVER_POINTS + WORKER_POINTS:
        victims = ["self", "jvm", "driver"] if point in WORKER_POINTS else ["self", "jvm"]
        if point == "during-recovery":
            victims = ["self"]  # there is no JVM yet
        moments += [(f"{point}:1:{victim}", point.startswith("savepoint")) for victim in victims]
    return moments


@pytest.mark.soak
@pytest.mark.parametrize("first_pass", [1, 2])
def test_killed_at_every_moment(tmp_path: Path, first_pass: int) -> None:
    job = KilledJob(tmp_path, records=120_000, epoch_records=1_000)
    for moment, savepoint in _every_moment():
        point, _, victim = moment.split(":")
        number = 1 if point == "during-recovery" or savepoint else first_pass
        # A worker's death does not end the run, so that another one has to.
        job.run(f"{point}:{number}:{victim}", "after-commit:5", savepoint=savepoint)
        assert not job.finished, f"the input is too short for this sweep\n{job.story()}"
    job.run_to_the_end()
    job.assert_complete()


@pytest.mark.soak
def test_two_hundred_random_kills(tmp_path: Path) -> None:
    seed = int(os.environ.get("PENSTOCK_SOAK_SEED", random.randrange(1 << 30)))
    kills, wanted = 0, int(os.environ.get("PENSTOCK_SOAK_KILLS", 200))
    chance = random.Random(seed)
    print(f"PENSTOCK_SOAK_SEED={seed}")
    while kills < wanted:
        job = KilledJob(tmp_path / f"after-{kills}", records=30_000, epoch_records=500)
        while kills < wanted and not job.finished:
            kills += _start_and_kill(job, chance)
        job.run_to_the_end()
        job.assert_complete()


def _start_and_kill(job: KilledJob, chance: random.Random) -> int:
    """One start, which a few deaths of workers may not end, but the last death does."""
    process = job.start()
    _wait_for_epoch(job, process)
    kills = 0
    for _ in range(chance.randrange(1, 8)):
        time.sleep(chance.random() * 2)
        kills += _kill_one(process, chance)
        if process.poll() is not None:
            break
    if process.poll() is None:
        process.kill()
        kills += 1
    job.wait(process, f"{kills} kills")
    return kills


def _wait_for_epoch(job: KilledJob, process: subprocess.Popen[str]) -> None:
    """Until this start has completed an epoch: a job that never gets so far never finishes either."""
    before = _newest_epoch(job)
    while process.poll() is None and _newest_epoch(job) == before:
        time.sleep(0.05)


def _newest_epoch(job: KilledJob) -> str:
    return max((path.name for path in job.epochs.glob("*.epoch")), default="")


def _kill_one(process: subprocess.Popen[str], chance: random.Random) -> int:
    """Anybody of the job; a JVM or driver once in a while, workers mostly, as there are more of them."""
    victims = members_of_session(process.pid)
    if not victims:
        return 0
    try:
        os.kill(chance.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def test_nothing_stays_behind_a_killed_driver(tmp_path: Path) -> None:
    job = KilledJob(tmp_path, records=4_000, epoch_records=2_000)
    process = job.start("after-plan:1")
    assert job.wait(process, "after-plan") == -signal.SIGKILL, job.story()
    assert wait_for_last_process(process.pid) == []


HOLDER = """
import sys
from pathlib import Path
from penstock.control.job_home import JobHome
home = JobHome(Path(sys.argv[1]), sys.argv[2])
home.acquire()
print("owner", flush=True)
sys.stdin.read()
"""


def test_a_second_driver_is_refused_until_the_first_has_died(tmp_path: Path) -> None:
    job_id = "c0ffee" + "0" * 26
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), job_id], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout is not None and first.stdout.readline() == "owner\n"
        os.kill(first.pid, signal.SIGSTOP)  # even one that does not move is the owner: it may wake up
        second = subprocess.run(
            [str(PENSTOCK), "run", "--job-id", job_id, str(PROGRAM), str(tmp_path / "results"), "10"],
            env={**os.environ, "PENSTOCK_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        first.kill()
        first.communicate()
    assert second.returncode == 1
    assert f"being run by process {first.pid} on {socket.gethostname()}" in second.stderr
    assert not (tmp_path / "results").exists()
    JobHome(tmp_path, job_id).acquire()
