"""A savepoint that is made of data, or changed, is as good as one that a job has written."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from penstock.common import Row, Time, Types, WatermarkStrategy
from penstock.common.errors import ConfigurationError
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.functions import AggregateFunction, KeyedBroadcastProcessFunction, MapFunction
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.checkpointed import CheckpointedFunction
from penstock.functions.window_types import TimeWindow
from penstock.runtime.savepoint import open_savepoint
from penstock.state_processor import SavepointReader, SavepointWriter

_USER = Types.ROW_NAMED(["visits", "last"], [Types.LONG(), Types.LONG()])


class _Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: int, accumulator: Any) -> Any:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, a: Any, b: Any) -> Any:
        return a[0] + b[0], a[1] + b[1]


def _larger(a: int, b: int) -> int:
    return max(a, b)


_VALUE = ValueStateDescriptor("user", _USER)
_LIST = ListStateDescriptor("all", Types.LONG())
_MAP = MapStateDescriptor("by digit", Types.LONG(), Types.LONG())
_MOST = ReducingStateDescriptor("most", _larger, Types.LONG())
_MEAN = AggregatingStateDescriptor("mean", _Mean(), Types.TUPLE([Types.LONG(), Types.LONG()]))


class _Everything(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.user = runtime_context.get_state(_VALUE)
        self.all = runtime_context.get_list_state(_LIST)
        self.by_digit = runtime_context.get_map_state(_MAP)
        self.most = runtime_context.get_reducing_state(_MOST)
        self.mean = runtime_context.get_aggregating_state(_MEAN)

    def process_element(self, value: int, ctx: Any) -> Any:
        user = self.user.value() or Row(visits=0, last=0)
        self.user.update(Row(visits=user.visits + 1, last=value))
        self.all.add(value)
        self.by_digit.put(value % 10, value)
        self.most.add(value)
        self.mean.add(value)
        ctx.timer_service().register_event_time_timer(1_000_000)
        yield (
            ctx.get_current_key(),
            self.user.value(),
            list(self.all.get()),
            sorted(self.by_digit.items()),
            self.most.get(),
            self.mean.get(),
        )

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), "timer", timestamp


def _run(numbers: list[int], parallelism: int = 2, **options: Any) -> list[Any]:
    env = StreamExecutionEnvironment(executor=LocalExecutor(**options))
    env.set_parallelism(parallelism)
    stream = env.from_collection(numbers, Types.LONG()).uid("numbers").key_by(lambda n: n % 3)
    return list(stream.process(_Everything()).uid("everything").execute_and_collect())


def _frames(numbers: list[int]) -> dict[str, Any]:
    columns = {
        "key": [n % 3 for n in numbers],
        "number": numbers,
        "digit": [n % 10 for n in numbers],
        "visits": [1 + len([m for m in numbers[:i] if m % 3 == n % 3]) for i, n in enumerate(numbers)],
        "last": numbers,
    }
    table = pa.table(columns)
    return {"pandas": pd.DataFrame(columns), "arrow": table, "records": table.to_pylist()}


@pytest.mark.parametrize("form", ["pandas", "arrow", "records"])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_job_that_starts_from_data_is_as_if_it_had_processed_it(tmp_path: Path, form: str, parallelism: int) -> None:
    before, after = list(range(40)), list(range(40, 60))
    whole = _run(before + after, parallelism)
    data, path = _frames(before)[form], str(tmp_path / "made")
    writer = SavepointWriter.new().add_operator("everything", "keyed_process", parallelism=2)
    writer.with_keyed_state("everything", _VALUE, data, key="key")
    writer.with_keyed_state("everything", _LIST, data, key="key", value="number")
    writer.with_keyed_state("everything", _MAP, data, key="key", map_key="digit", value="number")
    writer.with_keyed_state("everything", _MOST, data, key="key", value=lambda record: record["number"])
    writer.with_keyed_state("everything", _MEAN, data, key=lambda record: record["key"], value="number")
    writer.with_timers("everything", [(key, 1_000_000) for key in (0, 1, 2)]).write(path)
    results = _run(after, parallelism, start_from=path)
    elements = [result for result in results if result[1] != "timer"]
    assert sorted(map(repr, elements)) == sorted(repr(r) for r in whole if r[1] != "timer" and r[1].last >= 40)
    assert sorted(r for r in results if r[1] == "timer") == [(key, "timer", 1_000_000) for key in (0, 1, 2)]


def test_values_get_the_declared_types(tmp_path: Path) -> None:
    writer = SavepointWriter.new().add_operator("u", "keyed_process")
    with pytest.raises(TypeError, match="is no value of the declared type"):
        writer.with_keyed_state("u", ValueStateDescriptor("v", Types.LONG()), {"a": "text"})
    frame = pd.DataFrame({"k": ["a"], "v": [1]})
    path = writer.with_keyed_state("u", ValueStateDescriptor("v", Types.LONG()), frame, key="k", value="v").write(
        str(tmp_path / "made")
    )
    (row,) = SavepointReader.load(path).read_keyed_state("u", "v")
    assert type(row.value) is int
    with pytest.raises(ConfigurationError, match="say where the value is"):
        writer.with_keyed_state("u", ValueStateDescriptor("v", Types.LONG()), frame, key="k")
    with pytest.raises(ConfigurationError, match="map_key"):
        writer.with_keyed_state("u", MapStateDescriptor("m", None, None), frame, key="k", value="v")


def _stopped(tmp_path: Path, numbers: list[int]) -> str:
    executor = LocalExecutor(epoch_records=10, stop_after=len(numbers) // 10 - 2, savepoint_directory=str(tmp_path))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    stream = env.from_collection(numbers, Types.LONG()).uid("numbers").key_by(lambda n: n % 3)
    stream.process(_Everything()).uid("everything").execute_and_collect()
    assert executor.savepoint_path is not None
    return executor.savepoint_path


def test_a_job_sees_changed_state(tmp_path: Path) -> None:
    path, changed = _stopped(tmp_path, list(range(60))), str(tmp_path / "changed")
    before = SavepointReader.load(path)
    writer = SavepointWriter.from_savepoint(path)
    writer.transform_keyed_state("everything", "most", lambda key, most: None if key == 2 else most + 1_000)
    writer.transform_keyed_state("everything", "all", lambda key, numbers: [n for n in numbers if n > 10])
    writer.remove_keyed_state("everything", "by digit").with_timers("everything", [(0, 5)]).write(changed)
    after = SavepointReader.load(changed)
    assert "by digit" not in after.keyed_state_names("everything")
    most = {row.key: row.value for row in before.read_keyed_state("everything", "most")}
    assert {row.key: row.value for row in after.read_keyed_state("everything", "most")} == {
        key: value + 1_000 for key, value in most.items() if key != 2
    }
    assert sorted(after.read_keyed_state("everything", "user")) == sorted(before.read_keyed_state("everything", "user"))
    assert [(timer.key, timer.time) for timer in after.read_timers("everything")] == [(0, 5)]
    results = _run(list(range(60)), start_from=changed)
    assert {r[4] for r in results if r[0] == 0 and r[1] != "timer"} == {most[0] + 1_000}
    assert all(min(r[2]) > 10 for r in results if r[1] != "timer")
    assert (0, "timer", 5) in results


def test_a_state_gets_a_type_that_would_not_be_converted(tmp_path: Path) -> None:
    path, changed = _stopped(tmp_path, list(range(60))), str(tmp_path / "changed")
    as_text = ListStateDescriptor("most as text", Types.STRING())
    writer = SavepointWriter.from_savepoint(path)
    writer.transform_keyed_state("everything", "most", lambda key, most: [str(most)], as_text).write(changed)
    rows = SavepointReader.load(changed).read_keyed_state("everything", "most as text")
    assert {type(row.value[0]) for row in rows} == {str} and len(rows) == 3
    with pytest.raises(ConfigurationError, match="has been changed here already"):
        SavepointWriter.from_savepoint(path).with_keyed_state("everything", _LIST, {1: [1]}).transform_keyed_state(
            "everything", "all", lambda key, value: value
        )


def test_an_operator_gets_another_uid(tmp_path: Path) -> None:
    path, changed = _stopped(tmp_path, list(range(60))), str(tmp_path / "changed")
    SavepointWriter.from_savepoint(path).change_uid("everything", "all of it").change_uid("numbers", "n").write(changed)
    savepoint = open_savepoint(changed)
    assert {operator.uid for operator in savepoint.operators} >= {"all of it", "n"}
    assert set(savepoint.positions) == {"n"}
    assert len(SavepointReader.load(changed).read_keyed_state("all of it", "user")) == 3


# -- time to live ------------------------------------------------------------------------------------------------------


def _living(descriptor: Any) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(10)).build())
    return descriptor


def test_values_with_a_time_to_live(tmp_path: Path) -> None:
    clock = [1_000]
    writer = SavepointWriter(clock=lambda: clock[0]).add_operator("u", "keyed_process")
    writer.with_keyed_state("u", _living(ValueStateDescriptor("v", Types.LONG())), {"a": 1})
    writer.with_keyed_state("u", _living(ListStateDescriptor("l", Types.LONG())), {"a": [1, 2]})
    writer.with_keyed_state("u", _living(MapStateDescriptor("m", Types.STRING(), Types.LONG())), {"a": {"x": 1}})
    path = writer.write(str(tmp_path / "made"))
    clock[0] = 9_000
    again = SavepointWriter(open_savepoint(path), clock=lambda: clock[0])
    again.transform_keyed_state("u", "v", lambda key, value: value + 1)
    reader = SavepointReader.load(again.write(str(tmp_path / "changed")))
    assert list(reader.read_keyed_state("u", "v")) == [("a", None, 2, 11_000)], "its life is no longer than before"
    assert list(reader.read_keyed_state("u", "l")) == [("a", None, [1, 2], [11_000, 11_000])]
    assert list(reader.read_keyed_state("u", "m")) == [("a", None, {"x": 1}, {"x": 11_000})]
    assert list(reader.read_keyed_state("u", "v").to_pandas().columns) == ["key", "namespace", "value", "expires"]
    table = reader.read_keyed_state("u", "m").to_arrow()
    assert table.column("value").to_pylist() == [[("x", 1)]] and table.column("expires").to_pylist() == [
        [("x", 11_000)]
    ]


# -- state without keys ------------------------------------------------------------------------------------------------


class _Lists(MapFunction, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.own = list(store.get_list_state(ListStateDescriptor("own", Types.LONG())).get())
        self.common = list(store.get_union_list_state(ListStateDescriptor("common", Types.STRING())).get())

    def snapshot_state(self, context: Any) -> None:
        pass

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value: int) -> Any:
        return self.subtask, self.own, self.common


@pytest.mark.parametrize("parallelism", [2, 3])
def test_lists_of_operators(tmp_path: Path, parallelism: int) -> None:
    writer = SavepointWriter.new().add_operator("lists", "map", parallelism=2)
    writer.with_list_state("lists", ListStateDescriptor("own", Types.LONG()), range(6))
    writer.with_union_list_state("lists", ListStateDescriptor("common", Types.STRING()), ["x", "y"])
    path = writer.write(str(tmp_path / "made"))
    env = StreamExecutionEnvironment(executor=LocalExecutor(start_from=path))
    env.set_parallelism(parallelism)
    stream = env.from_collection(list(range(12)), Types.LONG()).uid("n").rebalance().map(_Lists()).uid("lists")
    by_subtask = {subtask: (own, common) for subtask, own, common in stream.execute_and_collect()}
    assert sorted(n for own, _ in by_subtask.values() for n in own) == list(range(6))
    assert {len(own) for own, _ in by_subtask.values()} == {6 // parallelism}
    assert all(common == ["x", "y"] for _, common in by_subtask.values())
    assert SavepointReader.load(path).operator_state_names("lists") == ["own", "common"]


_RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class _Rules(KeyedBroadcastProcessFunction):  # type: ignore[type-arg]
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield sorted(ctx.get_broadcast_state(_RULES).items())

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        yield from ()


def test_broadcast_state(tmp_path: Path) -> None:
    writer = SavepointWriter.new().add_operator("applying", "keyed_broadcast")
    path = writer.with_broadcast_state("applying", _RULES, {"a": 1}).write(str(tmp_path / "made"))
    env = StreamExecutionEnvironment(executor=LocalExecutor(start_from=path))
    env.set_parallelism(2)
    rules = env.from_collection(["unused"]).uid("rules").broadcast(_RULES)
    keyed = env.from_collection(list(range(10))).uid("n").key_by(lambda n: n)
    results = list(keyed.connect(rules).process(_Rules()).uid("applying").execute_and_collect())
    assert results == [[("a", 1)]] * 10
    without = SavepointWriter.from_savepoint(path).remove_operator_state("applying", "rules")
    assert SavepointReader.load(without.write(str(tmp_path / "without"))).operator_state_names("applying") == []


# -- windows -----------------------------------------------------------------------------------------------------------


class _Number(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


def _windows(tmp_path: Path, build: Any) -> dict[tuple[int, Any], Any]:
    executor = LocalExecutor(epoch_records=10, stop_after=1, savepoint_directory=str(tmp_path))
    env = StreamExecutionEnvironment(executor=executor)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_Number())
    numbers = env.from_collection(list(range(40)), Types.LONG()).uid("n").assign_timestamps_and_watermarks(strategy)
    build(numbers.key_by(lambda n: n % 2)).uid("windows").execute_and_collect()
    assert executor.savepoint_path is not None
    rows = SavepointReader.load(executor.savepoint_path).read_window_state("windows")
    assert rows.to_arrow().column_names == ["key", "namespace", "value"]
    return {(row.key, row.namespace): row.value for row in rows}


def _sums(size: int) -> dict[tuple[int, Any], int]:
    sums: dict[tuple[int, Any], int] = defaultdict(int)
    for n in range(20):
        sums[n % 2, TimeWindow(n // size * size, n // size * size + size)] += n
    return sums


def test_tumbling_windows_can_be_read(tmp_path: Path) -> None:
    windows = TumblingEventTimeWindows.of(Time.milliseconds(100))
    assert _windows(tmp_path, lambda keyed: keyed.window(windows).reduce(lambda a, b: a + b)) == _sums(100)
    general = _windows(tmp_path, lambda keyed: keyed.window(windows).trigger(CountTrigger.of(99)).reduce(_add))
    assert general == _sums(100)


def _add(a: int, b: int) -> int:
    return a + b


def test_sliding_windows_and_sessions_can_be_read(tmp_path: Path) -> None:
    sliding = SlidingEventTimeWindows.of(Time.milliseconds(200), Time.milliseconds(100))
    read = _windows(tmp_path, lambda keyed: keyed.window(sliding).reduce(_add))
    assert read in (_sums(100), {(k, TimeWindow(s, s + 200)): v for (k, _), v in _sums(100).items() for s in (-100, 0)})
    sessions = EventTimeSessionWindows.with_gap(Time.milliseconds(50))
    read = _windows(tmp_path, lambda keyed: keyed.window(sessions).reduce(_add))
    assert read == {(0, TimeWindow(0, 68)): 90, (1, TimeWindow(1, 69)): 100}
    general = _windows(tmp_path, lambda keyed: keyed.window(sessions).trigger(CountTrigger.of(99)).reduce(_add))
    assert general == read


def test_an_operator_without_windows(tmp_path: Path) -> None:
    path = SavepointWriter.new().add_operator("u", "keyed_process").write(str(tmp_path / "made"))
    with pytest.raises(ConfigurationError, match="has no windows"):
        SavepointReader.load(path).read_window_state("u")
