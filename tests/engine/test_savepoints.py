"""A job that is stopped with a savepoint and started from it, with other parallelisms, ends as one that was not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.common.time import Time
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.functions import KeyedBroadcastProcessFunction, MapFunction
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.checkpointed import CheckpointedFunction


class _Second(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


class _AllKinds(KeyedProcessFunction):
    """Every kind of keyed state, and a timer per key that reports all of it."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.by_parity = runtime_context.get_map_state(MapStateDescriptor("parity", Types.INT(), Types.LONG()))
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
        )

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value[1])
        self.by_parity.put(value[1] % 2, (self.by_parity.get(value[1] % 2) or 0) + 1)
        self.total.add(value[1])
        ctx.timer_service().register_event_time_timer(10_000_000)
        yield "element", value[0], self.count.value()

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield (
            "final",
            ctx.get_current_key(),
            self.count.value(),
            sorted(self.seen.get()),
            sorted(self.by_parity.items()),
            self.total.get(),
        )


_RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class _Tagging(KeyedBroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield "tagged", value[0], value[1], sorted(ctx.get_broadcast_state(_RULES).items())

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        ctx.get_broadcast_state(_RULES).put(value, value.upper())
        yield from ()


def _records(count: int) -> list[tuple[str, int, int]]:
    shuffled = random.Random(7)
    return [(f"k{shuffled.randrange(9)}", i, i * 100 + shuffled.randrange(300)) for i in range(count)]


def _build(env: StreamExecutionEnvironment, parallelism: int) -> Any:
    env.set_parallelism(parallelism)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500)).with_timestamp_assigner(
        _Second()
    )
    stream = env.from_collection(_records(400)).uid("records").assign_timestamps_and_watermarks(strategy).uid("time")
    keyed = stream.key_by(lambda r: r[0])
    ones = keyed.process(_AllKinds()).uid("states")
    tumbling = (
        keyed.window(TumblingEventTimeWindows.of(Time.seconds(3)))
        .reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
        .uid("tumbling")
        .map(lambda r: ("tumbling", r[0], r[1]))
        .uid("m1")
    )
    sliding = (
        keyed.window(SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(1)))
        .reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2])))
        .uid("sliding")
        .map(lambda r: ("sliding", r[0], r[1]))
        .uid("m2")
    )
    sessions = (
        keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(700)))
        .reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
        .uid("sessions")
        .map(lambda r: ("session", r[0], r[1]))
        .uid("m3")
    )
    rules = env.from_collection(["a", "b"]).uid("rules").broadcast(_RULES)
    tagged = keyed.connect(rules).process(_Tagging()).uid("tagging")
    return ones.union(tumbling, sliding, sessions, tagged)


def _run(parallelism: int, **options: Any) -> tuple[list[Any], LocalExecutor]:
    executor = LocalExecutor(epoch_records=40, **options)
    env = StreamExecutionEnvironment(executor=executor)
    return list(_build(env, parallelism).execute_and_collect()), executor


def _normal(results: list[Any]) -> list[str]:
    # What the broadcast side had sent when a record came is a matter of luck in any run; all of it is there later.
    return sorted(repr(result) for result in results if result[0] != "tagged" or result[2] >= 80)


@pytest.mark.parametrize("chain", [(1, 4, 2, 3), (3, 1), (2, 2)])
def test_a_rescaled_job_gives_the_results_of_an_undisturbed_one(chain: tuple[int, ...], tmp_path: Path) -> None:
    undisturbed, _ = _run(1)
    results: list[Any] = []
    path: str | None = None
    for number, parallelism in enumerate(chain):
        last = number == len(chain) - 1
        part, executor = _run(
            parallelism,
            forget=True,
            start_from=path,
            stop_after=None if last else 2,
            savepoint_directory=str(tmp_path),
        )
        results += part
        path = executor.savepoint_path
    assert _normal(results) == _normal(undisturbed)


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    _, executor = _run(2, stop_after=2, savepoint_directory=str(tmp_path))
    assert executor.savepoint_path is not None
    return Path(executor.savepoint_path)


def test_the_directory_is_named_after_the_job(savepoint: Path) -> None:
    metadata = json.loads((savepoint / "_metadata").read_text())["savepoint"]
    assert savepoint.name.startswith(f"savepoint-{metadata['job_id'][:6]}-")


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip", "remove", "swap"])
def test_every_damage_is_found_before_anything_starts(savepoint: Path, damage: str) -> None:
    for victim in sorted(savepoint.iterdir()):
        content = victim.read_bytes()
        other = next(path for path in sorted(savepoint.iterdir()) if path != victim)
        match damage:
            case "truncate":
                victim.write_bytes(content[: len(content) // 2])
            case "empty":
                victim.write_bytes(b"")
            case "flip":
                victim.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
            case "remove":
                victim.unlink()
            case "swap":
                victim.write_bytes(other.read_bytes())
        with pytest.raises(JobExecutionError, match=r"damaged|no savepoint"):
            _run(2, start_from=str(savepoint))
        victim.write_bytes(content)
    _run(2, start_from=str(savepoint))


def test_state_that_the_program_no_longer_has_is_refused_unless_it_may_be_dropped(savepoint: Path) -> None:
    def build(**options: Any) -> list[Any]:
        env = StreamExecutionEnvironment(executor=LocalExecutor(start_from=str(savepoint), **options))
        env.set_parallelism(2)
        stream = env.from_collection(_records(400)).uid("records").map(lambda r: r[1]).uid("new")
        return list(stream.execute_and_collect())

    with pytest.raises(JobExecutionError, match="allow-non-restored-state"):
        build()
    rest = build(allow_non_restored_state=True)
    assert 0 < len(rest) < 400
    assert sorted(rest) == list(range(400 - len(rest), 400))


def test_another_max_parallelism_is_refused_with_the_right_one(savepoint: Path) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(start_from=str(savepoint)))
    env.set_max_parallelism(64)
    with pytest.raises(JobExecutionError, match=r"set_max_parallelism\(128\)"):
        list(_build(env, 2).execute_and_collect())


class _Remembering(MapFunction, CheckpointedFunction):
    """Keeps all it has seen in a list state, and how many subtasks there were in a union-list state."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.saved = store.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.members = store.get_union_list_state(ListStateDescriptor("members", Types.STRING()))
        self.restored = context.is_restored()
        self.seen = list(self.saved.get())
        self.old_members = sorted(self.members.get()) if self.restored else []

    def open(self, runtime_context: Any) -> None:
        self.name = f"subtask {runtime_context.get_index_of_this_subtask()}"

    def snapshot_state(self, context: Any) -> None:
        self.saved.update(self.seen)
        self.members.update([self.name])

    def map(self, value: int) -> Any:
        self.seen.append(value)
        return self.name, value, sorted(self.seen), self.old_members


def _remember(parallelism: int, **options: Any) -> tuple[list[Any], LocalExecutor]:
    executor = LocalExecutor(epoch_records=10, forget=True, **options)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    stream = env.from_collection(list(range(60))).uid("numbers").map(_Remembering()).uid("remember")
    return list(stream.execute_and_collect()), executor


def test_operator_state_is_dealt_out_to_new_subtasks(tmp_path: Path) -> None:
    before, executor = _remember(3, stop_after=2, savepoint_directory=str(tmp_path))
    after, _ = _remember(2, start_from=executor.savepoint_path)
    saved = sorted(value for _, value, _, _ in before)
    last = {name: seen for name, _, seen, _ in after}
    assert sorted(item for seen in last.values() for item in seen) == list(range(60))
    inherited = {name: [item for item in seen if item in saved] for name, seen in last.items()}
    assert abs(len(inherited["subtask 0"]) - len(inherited["subtask 1"])) <= 1
    assert {tuple(members) for *_, members in after} == {("subtask 0", "subtask 1", "subtask 2")}


def test_operator_state_stays_with_its_subtask_when_the_parallelism_does(tmp_path: Path) -> None:
    before, executor = _remember(3, stop_after=2, savepoint_directory=str(tmp_path))
    after, _ = _remember(3, start_from=executor.savepoint_path)
    owner = {value: name for name, value, _, _ in before}
    for name, _, seen, _ in after:
        assert {owner[item] for item in seen if item in owner} == {name}
