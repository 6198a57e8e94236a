"""The job master as programs, REST and the command line meet it, on the local engine: a whole life in milliseconds."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.common.errors import ConfigurationError, JobCancelledError, JobExecutionError, JobTakenOverError
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.engine import AttemptEnd
from penstock.control.epoch_size import EpochSizer
from penstock.control.finished_jobs import FinishedJobs
from penstock.control.job_epochs import JobSpec
from penstock.control.job_home import JobHome
from penstock.control.job_master import JobMaster
from penstock.control.job_record import record_of
from penstock.control.job_submission import sources_of
from penstock.control.restart import FixedDelay, NoRestart, RestartStrategy
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import MapFunction, RuntimeContext
from penstock.engines.local.engine import LocalEngine
from penstock.graph.job_request import JobRequest
from penstock.plan.translation import translate
from penstock.rest.job_server import JobServer as Server
from penstock.runtime.blueprint import JobSettings

_PATIENCE = 60
ENDLESS = 10**12


class Gate:
    """Holds the engine before an epoch until the test opens it."""

    def __init__(self) -> None:
        self.reached, self._open, self._at = threading.Event(), threading.Event(), 3

    def __call__(self, epochs: int) -> None:
        if epochs == self._at:
            self.reached.set()
            assert self._open.wait(_PATIENCE)

    def open(self) -> None:
        self._open.set()


class InBackground:
    """An executor whose jobs run on a thread of their own, in a home that the test can look at."""

    def __init__(
        self,
        home: Path,
        restarts: RestartStrategy | None = None,
        before_epoch: Callable[[int], None] = lambda epochs: None,
        services: Any = None,
    ) -> None:
        self.home = JobHome(home, str(JobID()))
        self._restarts = restarts or NoRestart()
        self._engine = LocalEngine(max_epochs=10**6, before_epoch=before_epoch)
        self._services = services

    def submit(self, request: JobRequest) -> JobMaster:
        home = self.home
        home.acquire()
        blueprint = translate(request, JobSettings(home.job_id, request.name))
        home.write_record(record_of(blueprint))
        checkpoints = CheckpointSettings(Pacing(), home.home / "checkpoints")
        spec = JobSpec(
            blueprint, sources_of(request), Configuration(), EpochSizer(5, 5, 10**9), self._restarts, checkpoints
        )
        self.job = JobMaster(spec, home, self._engine, self._services)
        self.job.start()
        self.job.run_in_background()
        return self.job


def numbers(executor: InBackground, last: int = ENDLESS, parallelism: int = 1) -> DataStream:
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    return env.from_source(NumberSequenceSource(0, last), WatermarkStrategy.no_watermarks(), "numbers")


def run(stream: DataStream) -> JobMaster:
    stream.print()
    executor = stream.get_execution_environment()._executor
    stream.get_execution_environment().execute_async("test job")
    assert isinstance(executor, InBackground)
    return executor.job


def test_cancel_returns_when_the_job_has_ended_and_its_files_are_gone(tmp_path: Path) -> None:
    executor = InBackground(tmp_path)
    job = run(numbers(executor).map(lambda n: n))
    job.cancel()
    assert job.status() is JobStatus.CANCELED and not executor.home.path.exists()
    with pytest.raises(JobCancelledError, match="'test job' was cancelled"):
        job.result_future().result(_PATIENCE)
    record = FinishedJobs(tmp_path).get(executor.home.job_id)
    assert record is not None and record.state is JobStatus.CANCELED


def test_a_savepoint_while_the_job_runs_and_a_stop_with_another(tmp_path: Path) -> None:
    executor = InBackground(tmp_path)
    job = run(numbers(executor))
    first = job.savepoint(str(tmp_path / "s")).result(_PATIENCE)
    second = job.stop(str(tmp_path / "s"), drain=False).result(_PATIENCE)
    assert (Path(first) / "_metadata").exists() and (Path(second) / "_metadata").exists()
    job.result_future().result(_PATIENCE)
    record = FinishedJobs(tmp_path).get(executor.home.job_id)
    assert record is not None and (record.stopped, record.savepoint) == (True, second)
    with pytest.raises(JobExecutionError, match="has ended"):
        job.savepoint(str(tmp_path / "s")).result(0)


def test_a_savepoint_needs_a_directory_and_a_checkpoint_an_interval(tmp_path: Path) -> None:
    job = run(numbers(InBackground(tmp_path)))
    with pytest.raises(ConfigurationError, match="execution.checkpointing.savepoint-dir"):
        job.savepoint(None).result(0)
    with pytest.raises(ConfigurationError, match="execution.checkpointing.interval"):
        job.checkpoint().result(0)
    job.cancel()


class FailsOnce(MapFunction):
    """At its seventh record, in the first attempt only."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.attempt = runtime_context.get_attempt_number()
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def map(self, value: int) -> str:
        self.seen.inc()
        if value == 7 and self.attempt == 0:
            raise ValueError("seven")
        return f"{value}"


def test_a_job_goes_on_from_its_last_epoch_after_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    executor = InBackground(tmp_path, FixedDelay(1, 0))
    stream = numbers(executor, last=20).map(FailsOnce()).name("fails once").uid("fails")
    collected = list(stream.execute_and_collect())
    assert collected == [f"{n}" for n in range(21)], "each record once"
    record = FinishedJobs(tmp_path).get(executor.home.job_id)
    assert record is not None and [attempt.state.name for attempt in record.attempts] == ["FAILED", "FINISHED"]
    failure = record.attempts[0].failure
    assert failure is not None and failure.task is not None
    assert (failure.exception, failure.message, failure.task.operator) == ("ValueError", "seven", "fails once")
    assert record.attempts[1].from_epoch == 1
    assert "starts again in 0.0 s\nValueError in operator 'fails once'" in capsys.readouterr().err
    assert record.metrics["fails"] == {"seen": 21}, "what the failed epoch counted does not count"


def test_a_failure_for_good_reaches_whoever_waits(tmp_path: Path) -> None:
    job = run(numbers(InBackground(tmp_path), last=20).map(FailsOnce()).name("fails once"))
    with pytest.raises(JobExecutionError, match="ValueError in operator 'fails once'") as raised:
        job.result_future().result(_PATIENCE)
    assert raised.value.failure.task is not None and raised.value.failure.task.text.startswith("job = run(")
    assert job.status() is JobStatus.FAILED


def test_a_driver_that_lost_its_job_publishes_nothing_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = Gate()
    executor = InBackground(tmp_path, FixedDelay(100, 0), gate)
    job = run(numbers(executor))
    assert gate.reached.wait(_PATIENCE)
    printed = capsys.readouterr().out
    successor = JobHome(tmp_path, executor.home.job_id)
    successor.acquire(take_over=True)
    gate.open()
    with pytest.raises(JobTakenOverError, match="was taken over"):
        job.result_future().result(_PATIENCE)
    assert printed and capsys.readouterr().out == ""
    assert successor.run.exists() and FinishedJobs(tmp_path).get(executor.home.job_id) is None


class Lost(LocalEngine):
    """What it runs on dies under it."""

    def watch(self, seconds: float) -> AttemptEnd | None:
        end = super().watch(seconds)
        return end if self.epochs < 2 else AttemptEnd(self._loss(), can_restart=False)

    def _loss(self) -> Any:
        return JobExecutionError("the JVM is gone").failure


def test_the_files_of_a_job_whose_engine_was_lost_are_kept(tmp_path: Path) -> None:
    executor = InBackground(tmp_path, FixedDelay(100, 0))
    executor._engine = Lost()
    job = run(numbers(executor))
    with pytest.raises(JobExecutionError, match="the JVM is gone"):
        job.result_future().result(_PATIENCE)
    record = executor.home.read_record()
    assert record is not None and record.state is JobStatus.FAILED
    assert not executor.home.owned(), "another process may go on"


class Counts(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_metrics_group().counter("seen")

    def map(self, value: int) -> int:
        self.seen.inc()
        return value


def test_rest_tells_what_the_real_job_has_read(tmp_path: Path) -> None:
    """Not by a fake: each operator's records, and metrics by operator and subtask."""
    gate, servers = Gate(), list[Server]()

    def services(job: JobMaster, home: JobHome) -> Server:
        servers.append(Server(job, home))
        return servers[0]

    executor = InBackground(tmp_path, before_epoch=gate, services=services)
    stream = numbers(executor, parallelism=2).rebalance().map(Counts()).name("same name").uid("a")
    job = run(stream.map(Counts()).name("same name").uid("b"))
    assert gate.reached.wait(_PATIENCE)
    answer = ask(servers[0], f"/jobs/{executor.home.job_id}")
    read = {vertex["id"]: vertex["metrics"]["read-records"] for vertex in answer["vertices"]}
    assert (read["a"], read["b"], answer["penstock"]["records-in"]) == (12, 12, 12)
    assert job.describe().accumulators == {"a": {"seen": 12}, "b": {"seen": 12}}
    assert [subtask.metrics["seen"] for subtask in job.describe().operators[1].subtasks] == [6, 6]
    gate.open()
    job.cancel()


def ask(server: Server, path: str) -> Any:
    connection = http.client.HTTPConnection(server.access.url.removeprefix("http://"), timeout=_PATIENCE)
    connection.request("GET", path, headers={"Authorization": f"Bearer {server.access.token}"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


class CannotBeClosed(LocalEngine):
    def close(self) -> None:
        raise OSError("it does not let go")


def test_an_engine_that_cannot_be_closed_ends_the_job_and_leaves_its_files(tmp_path: Path) -> None:
    executor = InBackground(tmp_path)
    executor._engine = CannotBeClosed()
    job = run(numbers(executor, last=3))
    with pytest.raises(JobExecutionError, match="it does not let go"):
        job.result_future().result(_PATIENCE)
    assert executor.home.path.exists() and FinishedJobs(tmp_path).get(executor.home.job_id) is None


class CannotStartAgain(LocalEngine):
    def start(self, attempt: int) -> None:
        if attempt > 0:
            raise OSError("no more")
        super().start(attempt)


def test_an_attempt_that_cannot_start_is_the_end_of_the_job(tmp_path: Path) -> None:
    executor = InBackground(tmp_path, FixedDelay(100, 0))
    executor._engine = CannotStartAgain()
    job = run(numbers(executor, last=20).map(FailsOnce()))
    with pytest.raises(JobExecutionError, match="no more"):
        job.result_future().result(_PATIENCE)
