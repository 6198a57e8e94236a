from __future__ import annotations

from concurrent.futures import Future
from datetime import timedelta

import pytest

from penstock.common import (
    ByteArraySchema,
    CompletableFuture,
    JobClient,
    JobExecutionResult,
    JobID,
    JobStatus,
    RestartStrategies,
    Row,
    SimpleStringSchema,
    Types,
)  # fmt: skip
from penstock.common.errors import NotSupportedError
from penstock.common.serialization import RowFieldExtractorSchema


class Handle:
    def __init__(self) -> None:
        self.job_id = JobID()
        self.cancelled = False
        self.future: Future[JobExecutionResult] = Future()

    def status(self) -> JobStatus:
        return JobStatus.CANCELED if self.cancelled else JobStatus.RUNNING

    def cancel(self) -> None:
        self.cancelled = True

    def result_future(self) -> Future[JobExecutionResult]:
        return self.future

    def savepoint(self, directory: str | None) -> Future[str]:
        path: Future[str] = Future()
        path.set_result(f"{directory}/savepoint")
        return path

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        path: Future[str] = Future()
        path.set_result(f"{directory}/savepoint" + (" drained" if drain else ""))
        return path


def test_client_of_a_running_job() -> None:
    handle = Handle()
    client = JobClient(handle)
    assert client.get_job_status().result() is JobStatus.RUNNING and client.get_job_id() == handle.job_id
    result, accumulators = client.get_job_execution_result(), client.get_accumulators()
    assert not result.done()
    handle.future.set_result(JobExecutionResult(handle.job_id, 12, {"n": 3}))
    assert result.result().get_net_runtime() == 12 and accumulators.result() == {"n": 3}
    client.cancel().result()
    assert client.get_job_status().result() is JobStatus.CANCELED
    assert client.trigger_savepoint("x").result() == "x/savepoint"
    assert client.stop_with_savepoint(True, "y").result() == "y/savepoint drained"
    with pytest.raises(NotSupportedError, match="format"):
        client.trigger_savepoint("x", "NATIVE")


def test_failed_future() -> None:
    inner: Future[int] = Future()
    inner.set_exception(ValueError("no"))
    future = CompletableFuture(inner)
    assert isinstance(future.exception(), ValueError)
    with pytest.raises(ValueError, match="no"):
        future.result()


def test_unknown_accumulator() -> None:
    assert JobExecutionResult(JobID(), 1, {"n": 1}).get_accumulator_result("m") is None


def test_job_ids() -> None:
    assert JobID() != JobID() and str(JobID("0" * 32)) == "0" * 32 and JobID("0" * 32) == JobID("0" * 32)
    with pytest.raises(ValueError, match="32"):
        JobID("xyz")


def test_terminal_states() -> None:
    assert {state for state in JobStatus if state.is_terminal_state() and not state.is_globally_terminal_state()} == {
        JobStatus.SUSPENDED
    }
    assert not JobStatus.RESTARTING.is_terminal_state()


def test_restart_strategies() -> None:
    fixed = RestartStrategies.fixed_delay_restart(3, 1000)
    assert fixed.get_delay_between_attempts_interval() == timedelta(seconds=1)
    assert fixed == RestartStrategies.fixed_delay_restart(3, 1000) != RestartStrategies.fixed_delay_restart(2, 1000)
    assert "3 failures" in RestartStrategies.failure_rate_restart(3, 1000, 10).get_description()
    with pytest.raises(ValueError, match="restart_attempts"):
        RestartStrategies.fixed_delay_restart(-1, 1000)


def test_schemas() -> None:
    schema = SimpleStringSchema()
    assert schema.deserialize(schema.serialize("né")) == "né" and schema.get_produced_type() == Types.STRING()
    assert ByteArraySchema().serialize(bytearray(b"a")) == b"a"
    assert RowFieldExtractorSchema(1).serialize(Row(1, b"x")) == b"x"
    for wrong in (lambda: schema.serialize(5), lambda: ByteArraySchema().serialize("a")):
        with pytest.raises(TypeError):
            wrong()
