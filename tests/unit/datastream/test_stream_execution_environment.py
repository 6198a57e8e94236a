"""What an environment hands to the executor, and what it makes of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.datastream.recording_executor import JOB_ID, environment

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError, NotSupportedError, ProgramError, SetupError
from penstock.common.job_status import JobStatus
from penstock.common.run_options import RunOptions, set_run_options
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.datastream.data_stream import CloseableIterator
from penstock.datastream.execution_mode import RuntimeExecutionMode
from penstock.datastream.functions import SourceFunction
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment


@pytest.fixture(autouse=True)
def no_run_options() -> Iterator[None]:
    yield
    set_run_options(RunOptions())


class OneNumber(SourceFunction):
    def run(self, ctx: Any) -> None:
        ctx.collect(1)


def spark_frame(streaming: bool = False, **types: Any) -> Any:
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in types.items()]
    schema = SimpleNamespace(jsonValue=lambda: {"type": "struct", "fields": fields})
    return SimpleNamespace(schema=schema, isStreaming=streaming)


# What runs


def test_execute_runs_what_was_built_since_the_last_time() -> None:
    env, executor = environment()
    numbers = env.from_collection([1, 2], Types.INT())
    numbers.print("first")
    assert env.execute("one").get_net_runtime() == 7
    numbers.map(str).print("second")
    env.execute("two")
    assert [request.name for request in executor.requests] == ["one", "two"]
    assert [[sink.function._identifier for sink in r.sinks] for r in executor.requests] == [["first"], ["second"]]


def test_a_function_without_sink_runs_too() -> None:
    env, executor = environment()
    env.from_collection([1]).map(str).map(print)
    env.execute()
    (end,) = executor.requests[0].sinks
    assert (end.kind, end.function.map) == ("map", print)


def test_nothing_to_run_is_an_error() -> None:
    env, _ = environment()
    env.from_collection([1])
    for run in (env.execute, env.execute_async, env.get_execution_plan):
        with pytest.raises(ProgramError, match="No operators defined in streaming topology. Cannot execute."):
            run()


def test_the_plan_leaves_the_program_to_be_executed() -> None:
    env, executor = environment()
    env.from_collection([1]).print()
    env.get_execution_plan()
    env.execute()
    assert len(executor.requests[0].sinks) == 1


def test_close_forgets_what_was_not_run() -> None:
    env, _ = environment()
    env.from_collection([1]).print()
    env.close()
    with pytest.raises(ProgramError, match="No operators"):
        env.execute()


def test_the_request_carries_the_settings() -> None:
    env, executor = environment()
    env.set_max_parallelism(64).disable_operator_chaining()
    env.get_config().set_auto_watermark_interval(50).set_global_job_parameters({"a": 1})
    env.from_collection([1]).print()
    env.execute()
    (request,) = executor.requests
    assert (request.name, request.parallelism, request.max_parallelism) == ("Flink Streaming Job", 3, 64)
    assert (request.chaining, request.batch_mode, request.auto_watermark_interval_ms) == (False, False, 50)
    assert request.job_parameters == {"a": "1"}


def test_the_default_max_parallelism_is_left_open() -> None:
    env, executor = environment()
    env.from_collection([1]).print()
    env.execute()
    assert (env.get_max_parallelism(), executor.requests[0].max_parallelism) == (-1, None)


def test_an_unknown_option_stops_the_job() -> None:
    env, _ = environment()
    env.configure(Configuration.from_dict({"parallelism.defualt": "2"}))
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match="parallelism.default"):
        env.execute()


def test_execute_async_gives_a_client() -> None:
    env, executor = environment()
    env.from_collection([1]).print()
    client = env.execute_async("later")
    assert str(client.get_job_id()) == JOB_ID
    assert client.get_job_status().result() is JobStatus.RUNNING
    client.cancel()
    assert executor.job.cancelled


# Results


def test_results_are_iterated_and_closing_cancels() -> None:
    env, executor = environment([[1, 2], [3]])
    with env.from_collection([1]).map(str).execute_and_collect("collect") as results:
        assert isinstance(results, CloseableIterator)
        assert (next(results), results.next(), list(results)) == (1, 2, [3])
        with pytest.raises(StopIteration):
            results.next()
    assert executor.job.cancelled
    assert executor.job.collected_from is executor.requests[0].sinks[0]
    assert executor.requests[0].name == "collect"


def test_a_closed_iterator_has_no_more_results() -> None:
    env, _ = environment([[1, 2]])
    results = env.from_collection([1]).execute_and_collect()
    assert next(results) == 1
    results.close()
    assert list(results) == []


def test_a_limit_gives_a_list_and_ends_the_job() -> None:
    env, executor = environment([[1, 2], [3]])
    assert env.from_collection([1]).execute_and_collect(limit=2) == [1, 2]
    assert executor.job.cancelled


def test_collecting_runs_pending_sinks_too() -> None:
    env, executor = environment()
    env.from_collection([1]).print()
    env.from_collection([2]).execute_and_collect()
    assert [sink.name for sink in executor.requests[0].sinks] == ["Print to Std. Out", "Data stream collect sink"]


def test_frames_come_by_epoch_and_in_pieces() -> None:
    env, executor = environment([[Row("a", 1), Row("b", 2), Row("c", 3)], [Row("d", 4)]])
    row_type = Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()])
    frames = list(env.from_collection([Row("a", 1)], row_type).to_pandas_iterator(max_rows=2))
    assert [list(frame.columns) for frame in frames] == [["k", "n"]] * 3
    assert [frame["n"].tolist() for frame in frames] == [[1, 2], [3], [4]]
    assert executor.job.cancelled


def test_frames_of_plain_values_have_one_column() -> None:
    env, _ = environment([[1, 2], []])
    (frame,) = env.from_collection([1], Types.INT()).to_pandas_iterator()
    assert frame["value"].tolist() == [1, 2]


# Sources


def test_a_collection_is_checked_against_its_type_at_once() -> None:
    env, _ = environment()
    with pytest.raises(ProgramError, match=r"from_collection\(\): element 1: .*'x'"):
        env.from_collection([1, "x"], Types.INT())


def test_a_collection_may_be_any_iterable() -> None:
    env, _ = environment()
    source = env.from_collection(n for n in (1, 2, 3))._upstreams[0].node.params["source"]
    assert source.advance(0, 100) == 3


def test_a_source_function_runs_in_one_subtask() -> None:
    env, _ = environment()
    stream = env.add_source(OneNumber(), type_info=Types.INT())
    node = stream._upstreams[0].node
    assert (stream.get_name(), stream.get_type(), node.parallelism) == ("Custom Source", Types.INT(), 1)
    with pytest.raises(ProgramError, match="must be 1: 'Custom Source'"):
        stream.set_parallelism(2)


def test_a_spark_frame_becomes_named_rows() -> None:
    env, _ = environment()
    array = {"type": "array", "elementType": "string", "containsNull": True}
    frame = spark_frame(name="string", n="long", tags=array, seen="timestamp")
    stream = env.from_spark(frame, "seen")
    row_type = Types.ROW_NAMED(
        ["name", "n", "tags", "seen"],
        [Types.STRING(), Types.LONG(), Types.LIST(Types.STRING()), Types.PICKLED_BYTE_ARRAY()],
    )
    assert repr(stream.get_type()) == repr(row_type)
    assert stream._upstreams[0].node.params == {"spark_frame": frame, "event_time": "seen"}


@pytest.mark.parametrize(
    ("frame", "column", "message"),
    [
        (spark_frame(n="long"), "m", r"no column 'm'.*\['n'\]"),
        (spark_frame(n="string"), "n", "has the type 'string'; cast it"),
        ([1, 2], None, "takes a Spark DataFrame"),
    ],
)
def test_unfit_spark_frames_are_refused(frame: Any, column: str | None, message: str) -> None:
    env, _ = environment()
    with pytest.raises(ProgramError, match=message):
        env.from_spark(frame, column)


# Modes


@pytest.mark.parametrize(
    ("mode", "streaming", "batch"),
    [
        (RuntimeExecutionMode.STREAMING, False, False),
        (RuntimeExecutionMode.BATCH, False, True),
        (RuntimeExecutionMode.AUTOMATIC, False, True),
        (RuntimeExecutionMode.AUTOMATIC, True, False),
    ],
)
def test_batch_mode(mode: RuntimeExecutionMode, streaming: bool, batch: bool) -> None:
    env, executor = environment()
    env.set_runtime_mode(mode)
    env.from_spark(spark_frame(streaming, n="long")).print()
    env.execute()
    assert executor.requests[0].batch_mode is batch


def test_batch_mode_refuses_unbounded_sources() -> None:
    env, _ = environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.from_spark(spark_frame(True, n="long")).print()
    with pytest.raises(ProgramError, match="'Spark DataFrame'.* is unbounded"):
        env.execute()


# Configuration


def test_the_program_wins_over_the_command_line() -> None:
    set_run_options(RunOptions(parallelism=5, configuration={"pipeline.name": "typed", "parallelism.default": "4"}))
    assert StreamExecutionEnvironment.get_execution_environment().get_parallelism() == 5
    given = Configuration.from_dict({"parallelism.default": "6"})
    env = StreamExecutionEnvironment.get_execution_environment(given)
    assert env.get_parallelism() == 6
    assert env.set_parallelism(7).get_config().get_parallelism() == 7
    assert given.get_integer("parallelism.default", None) == 6


@pytest.mark.parametrize(
    ("typed", "configured", "executed", "name"),
    [
        (None, None, None, "Flink Streaming Job"),
        (None, "option", None, "option"),
        (None, "option", "argument", "argument"),
        ("typed", "option", "argument", "typed"),
    ],
)
def test_the_name_of_the_job(typed: str | None, configured: str | None, executed: str | None, name: str) -> None:
    set_run_options(RunOptions(job_name=typed))
    env, executor = environment()
    if configured:
        env.configure(Configuration.from_dict({"pipeline.name": configured}))
    env.from_collection([1]).print()
    env.execute(executed)
    assert executor.requests[0].name == name


def test_settings_are_read_back() -> None:
    env, _ = environment()
    env.set_buffer_timeout(20).enable_checkpointing(5000, CheckpointingMode.AT_LEAST_ONCE)
    assert (env.get_buffer_timeout(), env.is_chaining_enabled()) == (20, True)
    assert (env.get_checkpoint_interval(), env.get_checkpointing_mode()) == (5000, CheckpointingMode.AT_LEAST_ONCE)
    assert env.set_buffer_timeout(-1).get_buffer_timeout() == -1
    env.configure(Configuration().set_string("parallelism.default", "5"))
    assert env.get_parallelism() == 5


def test_defaults() -> None:
    env = StreamExecutionEnvironment()
    assert env.get_parallelism() == env.get_default_local_parallelism() >= 1
    assert (env.get_buffer_timeout(), env.get_checkpoint_interval()) == (100, -1)
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert env.get_default_savepoint_directory() is None
    assert env.is_changelog_state_backend_enabled() is None


def test_python_dependencies_come_from_calls_and_options(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "needs.txt", "data.zip"):
        (tmp_path / name).touch()
    env, executor = environment()
    env.configure(Configuration.from_dict({"python.files": str(tmp_path / "a.py")}))
    env.add_python_file(str(tmp_path / "b.py"))
    env.set_python_requirements(str(tmp_path / "needs.txt"), str(tmp_path))
    env.add_python_archive(str(tmp_path / "data.zip"), "data")
    env.from_collection([1]).print()
    env.execute()
    dependencies = executor.requests[0].dependencies
    assert dependencies.files == (str(tmp_path / "a.py"), str(tmp_path / "b.py"))
    assert dependencies.requirements == (str(tmp_path / "needs.txt"), str(tmp_path))
    assert dependencies.archives == ((str(tmp_path / "data.zip"), "data"),)


def test_a_missing_python_file_is_told_at_once() -> None:
    env, _ = environment()
    with pytest.raises(SetupError, match="no file or directory .*nowhere.py"):
        env.add_python_file("nowhere.py")


@pytest.mark.parametrize(
    "attempt",
    [
        lambda env: env.add_jars("file:///a.jar"),
        lambda env: env.add_classpaths("file:///a.jar"),
        lambda env: env.create_input(None),
        lambda env: StreamExecutionEnvironment(object()),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused_says_so(attempt: Any) -> None:
    env, _ = environment()
    with pytest.raises(NotSupportedError):
        attempt(env)


def test_a_cached_file_that_no_python_function_could_read_is_accepted_with_a_warning() -> None:
    env, _ = environment()
    with pytest.warns(UserWarning, match="no effect"):
        env.register_cached_file("a", "b")


def test_directories_of_the_search_path_come_after_files(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    env, _ = environment()
    paths = {"python.pythonpath": f"{tmp_path / 'b'}:{tmp_path / 'c'}", "python.files": str(tmp_path / "a")}
    env.configure(Configuration.from_dict(paths))
    assert env._python_dependencies().files == tuple(str(tmp_path / name) for name in ("a", "b", "c"))
