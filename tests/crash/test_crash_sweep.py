"""A job that is killed at any moment, in any way, ends with the results of one that is not."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.crash.killed_job import KilledJob, wait_for_last_process

from penstock.testing.faults import DRIVER_POINTS, RESIDENT_POINTS, WORKER_POINTS

pytestmark = pytest.mark.crash

# The moments at which most can go wrong. A worker's death is repaired within the run, so one start can take it and
# another death; the JVM comes up only after recovery, so that dying there is cheap.
REPRESENTATIVE = (
    ("during-level-0:3", "after-epoch-record:2"),
    ("during-recovery:1",),
    ("during-level:12:jvm",),
    ("after-state:2", "during-commit:2"),
)


@pytest.mark.parametrize("state_backend", ["hashmap", pytest.param("rocksdb", marks=pytest.mark.soak)])
def test_killed_at_representative_moments(tmp_path: Path, state_backend: str) -> None:
    job = KilledJob(tmp_path, records=12_000, epoch_records=2_000, state_backend=state_backend)
    for crashes in REPRESENTATIVE:
        assert job.run(*crashes) != 0, job.story()
        assert not job.finished, job.story()
    job.run_to_the_end()
    job.assert_complete()


# A resident task that dies is replaced within the run, so that one start can take several deaths.
RESIDENT = (
    ("during-level-0:3", "before-durable:5", "before-report:9", "after-epoch-record:6"),
    ("during-alignment:3", "during-deploy:14", "after-state:20", "during-commit:3"),
)


@pytest.mark.parametrize("state_backend", ["hashmap", pytest.param("rocksdb", marks=pytest.mark.soak)])
def test_resident_tasks_killed_at_representative_moments(tmp_path: Path, state_backend: str) -> None:
    job = KilledJob(tmp_path, records=20_000, epoch_records=1_000, state_backend=state_backend, engine="resident")
    for crashes in RESIDENT:
        assert job.run(*crashes) != 0, job.story()
        assert not job.finished, job.story()
    job.run_to_the_end()
    job.assert_complete()


# Each kind has a job of its own, so that they can be run one by one.
KINDS = {
    "epochs": DRIVER_POINTS[:4],
    "commits": DRIVER_POINTS[4:],
    "workers": WORKER_POINTS,
    "tasks": RESIDENT_POINTS,
}
RECORDS_FOR_A_MOMENT = {"micro-batch": 5_000, "resident": 16_000}


def _moments(points: tuple[str, ...]) -> list[tuple[str, str]]:
    """Who dies where."""
    moments = []
    for point in points:
        victims = ["self", "jvm"] if point in DRIVER_POINTS else ["self", "jvm", "driver"]
        if point == "during-recovery":
            victims = ["self"]  # there is no JVM yet
        moments += [(point, victim) for victim in victims]
    return moments


@pytest.mark.soak
@pytest.mark.parametrize("first_pass", [1, 2])
@pytest.mark.parametrize(
    ("engine", "kind"),
    [(engine, kind) for engine in RECORDS_FOR_A_MOMENT for kind in KINDS if engine == "resident" or kind != "tasks"],
)
def test_killed_at_every_moment(tmp_path: Path, engine: str, kind: str, first_pass: int) -> None:
    moments = _moments(KINDS[kind])
    job = KilledJob(tmp_path, len(moments) * RECORDS_FOR_A_MOMENT[engine], epoch_records=1_000, engine=engine)
    for point, victim in moments:
        savepoint = point.startswith("savepoint")
        number = 1 if point == "during-recovery" or savepoint else first_pass
        # A worker's death does not end the run, so that another one has to.
        job.run(f"{point}:{number}:{victim}", "after-commit:5", savepoint=savepoint)
        assert not job.finished, f"the input is too short for this sweep\n{job.story()}"
    job.run_to_the_end()
    job.assert_complete()


def test_nothing_stays_behind_a_killed_driver(tmp_path: Path) -> None:
    job = KilledJob(tmp_path, records=4_000, epoch_records=2_000)
    process = job.start("after-plan:1")
    assert job.wait(process, "after-plan") == -signal.SIGKILL, job.story()
    assert wait_for_last_process(process.pid) == []
