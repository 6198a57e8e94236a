"""Many jobs at once under one manager: all finish, and whoever looks at the page meanwhile does not wait."""

from __future__ import annotations

import http.client
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.manager.processes import (
    PROGRAMS,
    SMALL_EPOCHS,
    ManagerProcess,
    drivers_running,
    expected,
    until,
    written,
)
from tests.patience import patience

from penstock.client import PenstockClient

_JOBS = int(os.environ.get("PENSTOCK_SOAK_JOBS", 20))
_COUNT = 2000
_MEDIAN_SECONDS = 0.2


class Page:
    """Asks what an open tab asks: the jobs, and one of them with its graph's numbers."""

    def __init__(self, client: PenstockClient) -> None:
        self._address = urlsplit(client.url).netloc
        self._headers = {"Authorization": f"Bearer {client.connection._token}"}

    def look(self, job: str | None) -> list[float]:
        """How long each answer took."""
        paths = ["/overview", "/jobs/overview"]
        if job is not None:
            own = f"/penstock/v1/jobs/{job}"
            paths += [f"/jobs/{job}", f"{own}/backpressure", f"{own}/skew", f"{own}/epochs"]
        return [self._seconds(path) for path in paths]

    def _seconds(self, path: str) -> float:
        began = time.perf_counter()
        connection = http.client.HTTPConnection(self._address, timeout=patience(60))
        connection.request("GET", path, headers=self._headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 200, (path, answer.status)
        return time.perf_counter() - began


def _median(look: Callable[[], list[float]], times: int) -> float:
    return statistics.median(seconds for _ in range(times) for seconds in look())


def _tell(name: str, seconds: list[float]) -> None:
    median, worst = statistics.median(seconds), max(seconds)
    print(f"{name}: {len(seconds)} answers, median {median * 1e3:.0f} ms, worst {worst * 1e3:.0f} ms")


def _limit() -> float:
    """What is asked of a machine that has nothing else to do."""
    return _MEDIAN_SECONDS * max(1.0, os.getloadavg()[0] / (2 * (os.cpu_count() or 1)))


@pytest.mark.crash
@pytest.mark.soak
def test_twenty_jobs_at_once_finish_and_the_page_answers(tmp_path: Path) -> None:
    manager, gate = ManagerProcess(tmp_path / "home", slots=_JOBS), tmp_path / "gate"
    client = manager.start()
    page = Page(client)
    try:
        idle = _median(lambda: page.look(None), 20)
        outputs = [tmp_path / f"out-{number}" for number in range(_JOBS)]
        jobs = [
            client.submit(
                PROGRAMS / "counting_job.py",
                [str(output), str(_COUNT), str(gate)],
                parallelism=1,
                configuration=SMALL_EPOCHS,
            )
            for output in outputs
        ]
        answers: list[float] = []

        def looked(ended: Callable[[], bool]) -> bool:
            answers.extend(page.look(jobs[len(answers) % _JOBS]))
            return ended()

        def states() -> set[str]:
            return {job["state"] for job in client.jobs()}

        until("all at once", lambda: looked(lambda: states() == {"RUNNING"}), 300)
        starting, answers = answers, []
        until("results of each", lambda: looked(lambda: all(job["penstock"]["epoch"] > 2 for job in client.jobs())), 60)
        for _ in range(30):
            looked(lambda: True)
        running, answers = answers, []
        gate.touch()
        until("the end of all", lambda: looked(lambda: states() == {"FINISHED"}), 300)
        for name, seconds in (("starting", starting), ("running", running), ("ending", answers)):
            _tell(name, seconds)
        print(f"idle: median {idle * 1e3:.1f} ms; load {os.getloadavg()[0]:.1f}")
        assert [written(output) for output in outputs] == [expected(_COUNT)] * _JOBS
        assert statistics.median(running) < _limit()
    finally:
        manager.stop()


@pytest.mark.crash
@pytest.mark.spark
@pytest.mark.parametrize(
    ("jobs", "slots"),
    [pytest.param(3, 2, id="short"), pytest.param(_JOBS, None, id="long", marks=pytest.mark.soak)],
)
def test_more_jobs_on_spark_than_slots_wait_visibly_and_all_finish(
    tmp_path: Path, jobs: int, slots: int | None
) -> None:
    manager, gate = ManagerProcess(tmp_path / "home", slots), tmp_path / "gate"
    gate.touch()
    client = manager.start()
    page = Page(client)
    try:
        room = client.overview()["slots-total"]
        assert room < jobs, "there is nothing to wait for"
        outputs = [tmp_path / f"out-{number}" for number in range(jobs)]
        began = time.monotonic()
        ids = [
            client.submit(PROGRAMS / "counting_job.py", [str(output), "2000", str(gate), "on-spark"], parallelism=1)
            for output in outputs
        ]
        answers: list[float] = []
        waiting: set[str] = set()
        most = 0

        def all_finished() -> bool:
            nonlocal most
            answers.extend(page.look(ids[len(answers) % jobs]))
            seen = client.jobs()
            waiting.update(job["penstock"]["waiting"] for job in seen if job["penstock"]["waiting"])
            most = max(most, sum(drivers_running(manager.home, job) for job in ids))
            assert not {job["state"] for job in seen} & {"FAILED", "CANCELED", "RESTARTING"}
            return {job["state"] for job in seen} == {"FINISHED"}

        until("the end of all", all_finished, 60 * jobs)
        print(f"{jobs} jobs on Spark in {room} slots: {time.monotonic() - began:.0f} s, at most {most} drivers at once")
        _tell("page", answers)
        assert [written(output) for output in outputs] == [expected(2000)] * jobs
        assert most <= room
        assert f"it needs 1 slot, 0 of {room} are free" in waiting
        assert statistics.median(answers) < _limit()
    finally:
        manager.stop()
