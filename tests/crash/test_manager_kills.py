"""A manager that is killed again and again while jobs run and savepoints are taken: every result stays exact."""

from __future__ import annotations

import contextlib
import os
import random
import signal
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

from penstock.common.errors import JobExecutionError

_COUNT = 3000


@pytest.mark.crash
@pytest.mark.parametrize(
    ("jobs", "kills"),
    [pytest.param(2, 3, id="short"), pytest.param(5, 20, id="long", marks=pytest.mark.soak)],
)
def test_a_manager_killed_at_random_loses_no_job_and_runs_none_twice(tmp_path: Path, jobs: int, kills: int) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    manager, gate = ManagerProcess(tmp_path / "home"), tmp_path / "gate"
    outputs = [tmp_path / f"out-{number}" for number in range(jobs)]
    client = manager.start()
    program = PROGRAMS / "counting_job.py"
    ids = [
        client.submit(program, [str(output), str(_COUNT), str(gate)], parallelism=1, configuration=SMALL_EPOCHS)
        for output in outputs
    ]
    try:
        for _ in range(kills):
            job = chance.choice(ids)
            if chance.random() < 0.5:
                asked = client.job(job)
                until("an answer", lambda asked=asked: asked.status() in ("RUNNING", "FINISHED"), 60)
                try:
                    asked.ask("POST", "/savepoints", {"target-directory": str(tmp_path / "savepoints")})
                except JobExecutionError as error:
                    print("the savepoint was refused:", error)
            elif chance.random() < 0.5 and (driver := driver_of(manager.home, job)) is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(driver, signal.SIGKILL)
            manager.kill()
            client = manager.start()
            assert max(drivers_running(manager.home, job) for job in ids) <= 1, "a job runs twice"
        gate.touch()
        until("the end", lambda: all(client.job(job).status() == "FINISHED" for job in ids), 120)
        assert [written(output) for output in outputs] == [expected(_COUNT)] * jobs
    finally:
        manager.stop()
