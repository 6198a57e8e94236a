"""Patterns in whole jobs: the same matches however the stream is cut, kept, moved, rescaled and killed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from penstock.cep import CEP, AfterMatchSkipStrategy, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.time import Time
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.output_tag import OutputTag
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.blueprint import DiskStateSettings

DISORDER = 40
SLOW, LATE = OutputTag("slow"), OutputTag("late")
RECORD = Types.TUPLE([Types.LONG(), Types.STRING(), Types.LONG()])  # key, letter, time


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[2]  # type: ignore[no-any-return]


class Report(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match: Any, ctx: Any) -> Any:
        yield "match", ctx.timestamp(), tuple(event for events in match.values() for event in events)

    def process_timed_out_match(self, match: Any, ctx: Any) -> Any:
        yield SLOW, ("slow", ctx.timestamp(), tuple(event for events in match.values() for event in events))


def fits(letter: str) -> Any:
    return lambda event: event[1] == letter


def loops() -> Pattern:
    pattern = Pattern.begin("a").where(fits("a")).one_or_more().followed_by("b").where(fits("b"))
    return pattern.followed_by_any("c").where(fits("c")).optional().within(Time.milliseconds(90))


def skipping() -> Pattern:
    pattern = Pattern.begin("a", AfterMatchSkipStrategy.skip_past_last_event()).where(fits("a")).times(2)
    return (
        pattern.followed_by("b")
        .where(lambda event, ctx: event[1] == "b" and event[0] >= 0)
        .within(Time.milliseconds(200))
    )


def silence() -> Pattern:
    return Pattern.begin("a").where(fits("a")).not_followed_by("b").where(fits("b")).within(Time.milliseconds(60))


PATTERNS = [loops, skipping, silence]


def records(count: int = 260, keys: int = 5) -> list[tuple[int, str, int]]:
    source = random.Random(11)
    return [(source.randrange(keys), source.choice("abcd"), n * 5 - source.randrange(DISORDER)) for n in range(count)]


def job(pattern: Pattern, executor: LocalExecutor, parallelism: int = 1, keyed: bool = True) -> list[Any]:
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    stream: Any = (
        env.from_collection(records(), RECORD)
        .uid("numbers")
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(ThirdField()))
        .uid("times")
    )
    if keyed:
        stream = stream.key_by(lambda record: record[0], Types.LONG())
    # Without keys, events of one time come from several sources in any order.
    comparator = None if keyed else lambda one, other: (one > other) - (one < other)
    matches = CEP.pattern(stream, pattern, comparator).process(Report()).uid("patterns")
    if keyed:
        matches.set_max_parallelism(16)
    slow = matches.get_side_output(SLOW).uid("slow")
    return list(matches.union(slow).execute_and_collect())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_do_not_depend_on_epochs_parallelism_and_backends(pattern: Any, tmp_path: Path) -> None:
    expected = sorted(job(pattern(), LocalExecutor()))
    assert {kind for kind, _, _ in expected} == ({"match"} if pattern is silence else {"match", "slow"})
    assert sorted(job(pattern(), LocalExecutor(1, forget=True))) == expected
    assert sorted(job(pattern(), LocalExecutor(17, forget=True), parallelism=3)) == expected
    disk = DiskStateSettings((str(tmp_path),), 1 << 20)
    assert sorted(job(pattern(), LocalExecutor(13, disk_state=disk))) == expected
    assert sorted(job(pattern(), LocalExecutor(13, forget=True, disk_state=disk), parallelism=2)) == expected


def test_without_keys_all_events_are_one_stream() -> None:
    expected = sorted(job(skipping(), LocalExecutor(), keyed=False))
    assert expected != sorted(job(skipping(), LocalExecutor()))
    assert sorted(job(skipping(), LocalExecutor(7, forget=True), parallelism=3, keyed=False)) == expected


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2)])
@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_savepoint_in_the_middle_of_matches_and_another_parallelism(
    pattern: Any, before: int, after: int, on_disk: bool, tmp_path: Path
) -> None:
    disk = DiskStateSettings((str(tmp_path / "disk"),), 1 << 20) if on_disk else None
    expected = sorted(job(pattern(), LocalExecutor()))
    first = LocalExecutor(20, stop_after=6, savepoint_directory=str(tmp_path / "savepoints"), disk_state=disk)
    results = job(pattern(), first, before)
    assert first.savepoint_path is not None
    results += job(pattern(), LocalExecutor(20, start_from=first.savepoint_path, disk_state=disk), after)
    assert sorted(results) == expected


class Named(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Any:
        yield ctx.pattern_name(), ctx.pattern_version(), tuple(event for events in match.values() for event in events)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_patterns_come_over_a_broadcast_stream(parallelism: int) -> None:
    def results(executor: LocalExecutor) -> list[Any]:
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(parallelism)
        strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
        strategy = strategy.with_timestamp_assigner(ThirdField())
        events = [(n % 4, "ab"[n % 2], n) for n in range(40)]
        stream = env.from_collection(events, RECORD).assign_timestamps_and_watermarks(strategy)
        updates = [
            CEP.pattern_update("only a", 1, Pattern.begin("x").where(fits("z"))),
            CEP.pattern_update("only a", 2, Pattern.begin("x").where(fits("a")).next("y").where(fits("a"))),
            CEP.pattern_update("gone", 1, Pattern.begin("x").where(fits("b"))),
            CEP.pattern_removal("gone", 2),
        ]
        # Its watermark keeps the events back until all patterns are there.
        rules = env.from_collection(updates).assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Zero())
        )
        keyed = stream.key_by(lambda record: record[0], Types.LONG())
        return sorted(CEP.pattern(keyed, rules.broadcast()).process(Named()).execute_and_collect())

    found = results(LocalExecutor())
    assert {(name, version) for name, version, _ in found} == {("only a", 2)}
    assert len(found) == 18
    assert results(LocalExecutor(3, forget=True)) == found


class Zero(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return 0


def test_late_events_and_functions_of_all_kinds() -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1, forget=True))
    env.set_parallelism(1)
    events = [(0, "a", 10), (0, "b", 20), (0, "c", 5_000), (0, "a", 30), (0, "a", 6_000), (0, "x", 9_000)]
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_collection(events, RECORD).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(ThirdField())
    )
    pattern = Pattern.begin("a").where(fits("a")).followed_by("b").where(fits("b")).within(Time.seconds(1))
    matches = (
        CEP.pattern(stream.key_by(lambda record: record[0]), pattern)
        .side_output_late_data(LATE)
        .flat_select(
            lambda match: [match["a"][0][2], match["b"][0][2]],
            timeout_tag=SLOW,
            timeout_function=lambda match, time: [(match["a"][0][2], time)],
        )
    )
    late, slow = matches.get_side_output(LATE), matches.get_side_output(SLOW)
    results = list(matches.union(late.map(lambda event: ("late", *event)), slow).execute_and_collect())
    assert results == [10, 20, ("late", 0, "a", 30), (6_000, 7_000)]
