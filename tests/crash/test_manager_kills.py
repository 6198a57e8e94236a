"""A manager that is killed again and again while jobs run and savepoints are taken: every result stays exact."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from functools import partial
from pathlib import Path

import pytest
from tests.manager.processes import (
    PROGRAMS,
    SMALL_EPOCHS,
    ManagerProcess,
    driver_of,
    drivers_running,
    expected,
    until,
    written,
)

from penstock.client import JobClient
from penstock.common.errors import JobExecutionError

_SLOWLY_A_SECOND = 50  # what a job counts until its gate is open


def _answers(job: JobClient) -> bool:
    return job.status() in ("RUNNING", "FINISHED")


@pytest.mark.crash
@pytest.mark.parametrize(
    ("jobs", "kills", "seconds", "more"),
    [
        pytest.param(2, 3, 60, [], id="short"),
        pytest.param(5, 20, 60, [], id="long", marks=pytest.mark.soak),
        pytest.param(1, 2, 60, ["on-spark"], id="short on Spark", marks=pytest.mark.spark),
        pytest.param(5, 20, 300, ["on-spark"], id="long on Spark", marks=[pytest.mark.spark, pytest.mark.soak]),
    ],
)
def test_a_manager_killed_at_random_loses_no_job_and_runs_none_twice(
    tmp_path: Path, jobs: int, kills: int, seconds: int, more: list[str]
) -> None:
    """Each job has work for so many seconds, so that it has not finished when it is disturbed."""
    count, done = seconds * _SLOWLY_A_SECOND, {"savepoints": 0, "killed drivers": 0}
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    manager, gate = ManagerProcess(tmp_path / "home"), tmp_path / "gate"
    outputs = [tmp_path / f"out-{number}" for number in range(jobs)]
    client = manager.start()
    program = PROGRAMS / "counting_job.py"
    ids = [
        client.submit(program, [str(output), str(count), str(gate), *more], parallelism=1, configuration=SMALL_EPOCHS)
        for output in outputs
    ]
    try:
        for _ in range(kills):
            job = chance.choice(ids)
            if chance.random() < 0.5:
                asked = client.job(job)
                until("an answer", partial(_answers, asked), 120)
                try:
                    asked.ask("POST", "/savepoints", {"target-directory": str(tmp_path / "savepoints")})
                    done["savepoints"] += 1
                except JobExecutionError as error:
                    print("the savepoint was refused:", error)
            elif chance.random() < 0.5 and (driver := driver_of(manager.home, job)) is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(driver, signal.SIGKILL)
                    done["killed drivers"] += 1
            manager.kill()
            client = manager.start()
            assert max(drivers_running(manager.home, job) for job in ids) <= 1, "a job runs twice"
        print(f"{kills} kills of the manager, {done}; then", [client.job(job).status() for job in ids])
        gate.touch()
        until("the end", lambda: all(client.job(job).status() == "FINISHED" for job in ids), 300)
        assert [written(output) for output in outputs] == [expected(count)] * jobs
    finally:
        manager.stop()
