"""Failures name the operator, the user's line and the cause."""

from __future__ import annotations

import inspect
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Configuration, Encoder, Types, WatermarkStrategy
from penstock.common.errors import ConfigurationError, JobExecutionError, PenstockError
from penstock.datastream import KeyedProcessFunction, MapFunction, ProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from penstock.datastream.state import ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor


def failure_of(env: StreamExecutionEnvironment) -> str:
    with pytest.raises(JobExecutionError) as caught:
        env.execute("failing job")
    return str(caught.value)


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def divide(value: int) -> float:
    return 10 / value


@pytest.mark.parametrize("parallelism", [1, 2])
def test_story_of_an_exception(local_env: EnvironmentFactory, parallelism: int) -> None:
    env = local_env(parallelism)
    numbers = env.from_collection([2, 1, 0])
    line = here() + 1
    numbers.map(divide).name("divider").print()
    message = failure_of(env)
    assert message.startswith("ZeroDivisionError in operator 'divider'")
    assert f"{__file__}:{line}" in message
    assert 'numbers.map(divide).name("divider").print()' in message
    assert "return 10 / value" in message
    assert message.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "penstock/runtime" not in message


class FailsInOpen(MapFunction):
    def open(self, runtime_context: Any) -> None:
        raise RuntimeError("no connection")

    def map(self, value: Any) -> Any:
        return value


class FailsInTimer(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        ctx.timer_service().register_event_time_timer(1)
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        raise RuntimeError("in the timer")
        yield


class FailsInClose(MapFunction):
    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        raise RuntimeError("cannot close")


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (lambda ds: ds.map(FailsInOpen()), "no connection"),
        (lambda ds: ds.key_by(lambda v: v).process(FailsInTimer()), "in the timer"),
        (lambda ds: ds.map(FailsInClose()), "cannot close"),
        (lambda ds: ds.filter(lambda v: v.no_such_attribute), "no_such_attribute"),
        (lambda ds: ds.flat_map(lambda v: v), "'int' object is not iterable"),
        (lambda ds: ds.key_by(lambda v: v["x"]).map(lambda v: v), "not subscriptable"),
        (lambda ds: ds.key_by(lambda v: v).reduce(lambda a, b: a.no_such), "no_such"),
    ],
    ids=["open", "timer", "close", "filter", "flat_map", "key selector", "reduce"],
)
def test_wherever_user_code_fails(local_env: EnvironmentFactory, build: Any, what: str) -> None:
    env = local_env()
    build(env.from_collection([1, 1])).print()
    message = failure_of(env)
    assert what in message
    assert "operator" in message and Path(__file__).name in message


def test_cause_of_an_exception_is_shown(local_env: EnvironmentFactory) -> None:
    def wrapped(value: Any) -> Any:
        try:
            return divide(0)
        except ZeroDivisionError as error:
            raise ValueError("wrapped") from error

    env = local_env()
    env.from_collection([1]).map(wrapped).print()
    message = failure_of(env)
    assert message.index("ZeroDivisionError: division by zero") < message.index("ValueError: wrapped")


def test_record_that_cannot_be_serialized(local_env: EnvironmentFactory) -> None:
    env = local_env(2)
    env.from_collection([1]).map(lambda v: threading.Lock()).name("locks").rebalance().print()
    message = failure_of(env)
    assert "'locks'" in message and "lock" in message and "pickle" in message


@pytest.mark.parametrize(
    ("value", "declared"),
    [("text", Types.INT()), (1, Types.STRING()), (2**40, Types.INT()), ([1], Types.TUPLE([Types.INT()]))],
    ids=["text for INT", "number for STRING", "too large for INT", "list for TUPLE"],
)
def test_wrong_output_type(local_env: EnvironmentFactory, value: Any, declared: Any) -> None:
    env = local_env(2)
    env.from_collection([1]).map(lambda v: value, output_type=declared).name("liar").rebalance().print()
    message = failure_of(env)
    assert "liar" in message


class NoKey:
    def __reduce__(self) -> Any:
        return NoKey, ()


@pytest.mark.parametrize("key", [NoKey(), float("nan")], ids=["object", "NaN"])
def test_unstable_key(local_env: EnvironmentFactory, key: Any) -> None:
    env = local_env(2)
    env.from_collection([1]).key_by(lambda v: key).map(lambda v: v).print()
    message = failure_of(env)
    assert "key" in message and Path(__file__).name in message


def test_missing_input_file(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env()
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "missing.txt")).build()
    with pytest.raises(PenstockError, match="missing.txt"):
        env.from_source(source, WatermarkStrategy.no_watermarks(), "files").print()
        env.execute()


def test_directory_that_cannot_be_written(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    env = local_env()
    sink = FileSink.for_row_format(str(tmp_path / "file" / "out"), Encoder.simple_string_encoder()).build()
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    assert "FileSink cannot write into" in failure_of(env)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [("parallelism.defalt", "parallelism.default"), ("penstock.epoch.max-record", "penstock.epoch.max-records")],
)
def test_unknown_option_names_the_nearest(key: str, nearest: str) -> None:
    env = StreamExecutionEnvironment(Configuration.from_dict({key: "1"}), LocalExecutor())
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=re.escape(f"Did you mean '{nearest}'?")):
        env.execute()


def test_failure_in_a_later_epoch_keeps_what_was_complete(
    local_env: EnvironmentFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    env = local_env(1, epoch_records=1)
    env.from_collection([5, 2, 0, 1]).map(divide).print()
    failure_of(env)
    assert capsys.readouterr().out == "2.0\n5.0\n"


def test_the_environment_can_be_used_after_a_failure(local_env: EnvironmentFactory) -> None:
    env = local_env()
    env.from_collection([0]).map(divide).print()
    failure_of(env)
    with env.from_collection([5]).map(divide).execute_and_collect() as records:
        assert list(records) == [2.0]


class WrongTag(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return 5


def test_process_function_that_returns_no_iterable(local_env: EnvironmentFactory) -> None:
    env = local_env()
    env.from_collection([1]).process(WrongTag()).name("wrong").print()
    assert "'wrong'" in failure_of(env)


class KeepsALock(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("lock", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.state.update(threading.Lock())
        yield value


def test_state_that_cannot_be_serialized(local_env: EnvironmentFactory) -> None:
    env = local_env()
    env.from_collection([1]).key_by(lambda v: v).process(KeepsALock()).name("locksmith").print()
    message = failure_of(env)
    assert "'locksmith'" in message and "pickle" in message


def test_collected_record_that_cannot_be_serialized(local_env: EnvironmentFactory) -> None:
    env = local_env()
    with (
        pytest.raises(JobExecutionError, match="cannot pickle") as caught,
        env.from_collection([1]).map(lambda v: threading.Lock()).execute_and_collect() as records,
    ):
        list(records)
    assert "collect" in str(caught.value).lower()
