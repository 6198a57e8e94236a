"""What the resident engine says when tasks do not come, and how it reads its settings. No task runs here."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.common.errors import ConfigurationError, JobExecutionError, NotSupportedError
from penstock.common.options import validate
from penstock.control.engine import WorkerEnvironment
from penstock.control.epoch_store import EpochRecord
from penstock.engines.resident.engine import ResidentEngine
from penstock.engines.resident.settings import ResidentSettings, port_range
from penstock.runtime.blueprint import JobBlueprint, JobSettings


class EmptyHost:
    """A cluster without free slots."""

    encrypts = False

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.started: list[int] = []
        self.closed = False

    def prepare(self, request: Any, home: Any) -> WorkerEnvironment:
        return WorkerEnvironment()

    def open(self, job: Any) -> None:
        pass

    def slots_for(self, parallelism: int) -> int:
        return parallelism

    def most_tasks(self) -> int | None:
        return self.room

    def driver_address(self) -> str:
        return "127.0.0.1"

    def start(self, slot: int, settings: Any) -> None:
        self.started.append(slot)

    def replace(self, slot: int) -> None:
        pass

    def ended(self) -> dict[int, str]:
        return {}

    def lost(self, patience_seconds: float = 0.0) -> None:
        return None

    def close(self) -> None:
        self.closed = True


def job_in(directory: Path, record: EpochRecord | None = None) -> Any:
    planner = SimpleNamespace(sources={}, initial_offset=dict, wake_all=lambda: None)
    store = SimpleNamespace(latest=record or EpochRecord(0))
    return SimpleNamespace(
        blueprint=JobBlueprint(JobSettings("job", "job"), (), (), 1, 2),
        savepoint=None,
        home=SimpleNamespace(run=directory, home=directory),
        planner=planner,
        completion=SimpleNamespace(store=store, publish=lambda: None, ended=False),
        fence=lambda: None,
        news=threading.Event(),
    )


def test_too_few_slots_are_told_in_our_words(tmp_path: Path) -> None:
    clock = SimpleNamespace(now=0.0)
    host = EmptyHost()
    engine = ResidentEngine(host, clock=lambda: clock.now)
    engine.prepare(SimpleNamespace(configuration={"penstock.resident.slot-timeout": "30 s"}), None)  # type: ignore[arg-type]
    engine.open(job_in(tmp_path))
    engine.start(0)
    assert host.started == [0, 1]
    assert engine.watch(0) is None
    clock.now = 31.0
    end = engine.watch(0)
    assert end is not None
    assert "needs 2 slots" in str(end.failure) and "only 0 of them run" in str(end.failure)
    engine.close()
    engine.close()
    assert host.closed


def test_an_attempt_that_cannot_commit_what_the_one_before_has_left_is_followed_by_another(tmp_path: Path) -> None:
    """The system that takes it may be away for longer than one look."""
    away = [True]

    def publish() -> None:
        if away.pop():
            away.append(False)
            raise ConnectionError("the database is away")

    job = job_in(tmp_path)
    job.completion.publish = publish
    engine = ResidentEngine(EmptyHost())
    engine.prepare(SimpleNamespace(configuration={}), None)  # type: ignore[arg-type]
    engine.open(job)
    engine.start(1)
    end = engine.watch(0)
    assert end is not None and end.can_restart and "the database is away" in str(end.failure)
    engine.stop()
    engine.start(2)
    assert engine.watch(0) is None
    engine.close()


def test_slots_that_no_cluster_has_are_not_waited_for(tmp_path: Path) -> None:
    host = EmptyHost(room=1)
    engine = ResidentEngine(host)
    engine.prepare(SimpleNamespace(configuration={}), None)  # type: ignore[arg-type]
    with pytest.raises(
        JobExecutionError, match="needs 2 slots of Spark at the same time, and the cluster can give it 1"
    ):
        engine.open(job_in(tmp_path))
    assert host.started == []


@pytest.mark.parametrize(("room", "record"), [(2, EpochRecord(0)), (1, EpochRecord(7)), (None, EpochRecord(0))])
def test_slots_that_may_come_are_waited_for(tmp_path: Path, room: int | None, record: EpochRecord) -> None:
    """Also by a job that had them: the machine that it lost may come back."""
    host = EmptyHost(room)
    engine = ResidentEngine(host)
    engine.prepare(SimpleNamespace(configuration={}), None)  # type: ignore[arg-type]
    engine.open(job_in(tmp_path, record))
    assert host.started == [0, 1]
    engine.close()


@pytest.mark.parametrize(
    ("room", "words"), [(None, "how many the cluster can give it is not known"), (5, "the cluster can give it 5")]
)
def test_whoever_waits_for_slots_is_told_once(
    tmp_path: Path, room: int | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = SimpleNamespace(now=0.0)
    engine = ResidentEngine(EmptyHost(room), clock=lambda: clock.now)
    engine.prepare(SimpleNamespace(configuration={}), None)  # type: ignore[arg-type]
    engine.open(job_in(tmp_path))
    engine.start(0)
    assert engine.watch(0) is None
    assert capsys.readouterr().err == "", "executors take a moment to start"
    for clock.now in (11.0, 12.0, 13.0):
        assert engine.watch(0) is None
    told = capsys.readouterr().err
    assert told.count("waits for slots of Spark: it has 0 of 2") == 1 and words in told
    assert "fails 60 s after it began to wait (penstock.resident.slot-timeout)" in told
    engine.close()


def test_tasks_that_spark_cannot_start_are_told_with_the_cause_before_the_timeout(tmp_path: Path) -> None:
    host = EmptyHost()
    host.ended = lambda: {0: "Cannot run program", 1: "Cannot run program"}  # type: ignore[method-assign]
    engine = ResidentEngine(host, clock=lambda: 0.0)
    engine.prepare(SimpleNamespace(configuration={}), None)  # type: ignore[arg-type]
    engine.open(job_in(tmp_path))
    engine.start(0)
    ends = [engine.watch(0) for _ in range(6)]
    assert ends[:5] == [None] * 5, "one may come back"
    assert "Spark cannot run the job's tasks" in str(ends[5]) and "slot 1: Cannot run program" in str(ends[5])
    engine.close()


def test_a_job_that_ran_on_micro_batches_is_refused_before_anything_starts(tmp_path: Path) -> None:
    host = EmptyHost()
    engine = ResidentEngine(host)
    engine.prepare(SimpleNamespace(configuration={}), None)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="micro-batches so far"):
        engine.open(job_in(tmp_path, EpochRecord(3, snapshot_ids={(1, 0): "5f0c2c9a7f5e4a52"})))
    assert host.started == []


@pytest.mark.parametrize(
    ("options", "milliseconds"),
    [
        ({}, 5),
        ({"execution.buffer-timeout": "20 ms"}, 20),
        ({"execution.buffer-timeout.interval": "0 ms"}, 0),
        ({"execution.buffer-timeout.enabled": "false"}, -1),
    ],
)
def test_the_buffer_timeout_is_flinks_option_with_a_default_of_its_own(
    options: dict[str, str], milliseconds: int
) -> None:
    assert ResidentSettings.of(Configuration.from_dict(options)).buffer_timeout_ms == milliseconds


def test_ports() -> None:
    assert [port_range(text) for text in ("0", "40000", "40000-40100")] == [(0, 0), (40000, 40000), (40000, 40100)]
    for wrong in ("x", "5-4", "1-70000", "-3"):
        with pytest.raises(ConfigurationError, match="resident.ports"):
            port_range(wrong)


def test_options_of_one_engine_have_no_effect_on_the_other_and_that_is_said() -> None:
    options = {"penstock.resident.epoch-interval": "10 ms"}
    with pytest.warns(UserWarning, match="no effect"):
        validate(Configuration.from_dict({**options, "penstock.engine": "micro-batch"}))
    validate(Configuration.from_dict({**options, "penstock.engine": "resident"}))
    with pytest.raises(NotSupportedError, match="micro-batch or resident"):
        validate(Configuration.from_dict({"penstock.engine": "something"}))
