"""Window join, co-group and interval join against all pairs of two lists, on random streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.functions.join import (
    CoGroupedWindow,
    CoGroupFunction,
    FlatJoinFunction,
    JoinedWindow,
    ProcessJoinFunction,
)
from penstock.functions.output_tag import OutputTag
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.windows.settings import WindowSettings
from penstock.testing.harness import OperatorHarness

Step = tuple[str, Any]
Record = tuple[str, int, int]  # key, number, timestamp


@st.composite
def programs(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    time = watermark = count = 0
    for _ in range(draw(st.integers(1, 16))):
        kind = draw(st.sampled_from(("left", "left", "right", "right", "watermark", "cut")))
        if kind in ("left", "right"):
            batch: list[Record] = []
            for _ in range(draw(st.integers(1, 4))):
                time += draw(st.sampled_from((0, 1, 2, 6)))
                timestamp = time - draw(st.sampled_from((0, 0, 1, 3, 10)))
                batch.append((draw(st.sampled_from("ab")), count, timestamp))
                count += 1
            steps.append((kind, batch))
        elif kind == "watermark":
            watermark = max(watermark, time - draw(st.integers(0, 8)))
            steps.append((kind, watermark))
        else:
            steps.append((kind, draw(st.booleans())))
    return steps


def replay(harness: OperatorHarness, steps: list[Step]) -> None:
    for kind, content in steps:
        if kind == "watermark":
            harness.watermark(content)
        elif kind == "cut":
            harness.restart(full=content)
        else:
            harness.push_all(content, [record[2] for record in content], 0 if kind == "left" else 1)
    harness.end_of_input(inputs=2)


def two_keys() -> list[Any]:
    return [lambda record: record[0], lambda record: record[0]]


class Pairs(ProcessJoinFunction):
    def process_element(self, left: Record, right: Record, ctx: ProcessJoinFunction.Context) -> Iterator[Any]:
        assert (ctx.get_left_timestamp(), ctx.get_right_timestamp()) == (left[2], right[2])
        assert ctx.get_timestamp() == max(left[2], right[2])
        yield left[1], right[1]
        if left[1] % 2:
            yield OutputTag("odd"), left[1]


def interval_pairs(steps: list[Step], lower: int, upper: int) -> tuple[Counter[Any], list[int], list[int]]:
    watermark = MIN_TIMESTAMP
    alive: dict[str, list[Record]] = {"left": [], "right": []}
    late: dict[str, list[int]] = {"left": [], "right": []}
    kept_for = {"left": max(upper, 0), "right": max(-lower, 0)}
    pairs: Counter[Any] = Counter()
    for kind, content in steps:
        if kind == "watermark":
            watermark = max(watermark, content)
            for side, records in alive.items():
                alive[side] = [record for record in records if record[2] + kept_for[side] > watermark]
        elif kind in alive:
            for record in content:
                if record[2] < watermark:
                    late[kind].append(record[1])
                    continue
                for other in alive["right" if kind == "left" else "left"]:
                    left, right = (record, other) if kind == "left" else (other, record)
                    if left[0] == right[0] and left[2] + lower <= right[2] <= left[2] + upper:
                        pairs[(left[1], right[1]), max(left[2], right[2])] += 1
                alive[kind].append(record)
    return pairs, late["left"], late["right"]


@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(((-2, 3), (0, 5), (-4, -1), (2, 6), (0, 0))))
def test_interval_join(steps: list[Step], bounds: tuple[int, int]) -> None:
    lower, upper = bounds
    params = {"lower_bound": lower, "upper_bound": upper, "late_tags": ("late left", "late right")}
    harness = OperatorHarness("interval_join", Pairs(), params, key=two_keys())
    replay(harness, steps)
    pairs, late_left, late_right = interval_pairs(steps, lower, upper)
    assert Counter(harness.results) == pairs
    assert [record[1] for record in harness.side("late left").values] == late_left
    assert [record[1] for record in harness.side("late right").values] == late_right
    assert len(harness.side("odd").values) == sum(n for (pair, _), n in pairs.items() if pair[0] % 2)
    assert not harness.operator.timers.event.earliest()  # type: ignore[attr-defined]
    assert not any(buffer.base for buffer in harness.operator._buffers)  # type: ignore[attr-defined]


class BothSides(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> list[Any]:
        return [(tuple(r[1] for r in first), tuple(r[1] for r in second))]


class Flat(FlatJoinFunction):
    def join(self, first: Record, second: Record) -> Iterator[Any]:
        yield first[1], second[1]


def grouped(steps: list[Step], size: int, slide: int) -> Counter[Any]:
    """Key and window -> numbers of both sides, as soon as the window ends; late records are in no window."""
    watermark = MIN_TIMESTAMP
    groups: dict[Any, tuple[list[int], list[int]]] = {}
    for kind, content in steps:
        if kind == "watermark":
            watermark = max(watermark, content)
        elif kind in ("left", "right"):
            for key, number, timestamp in content:
                for start in range(timestamp - size + 1, timestamp + 1):
                    if start % slide == 0 and start + size - 1 > watermark:
                        group = groups.setdefault((key, start), ([], []))
                        group[kind == "right"].append(number)
    return Counter(((tuple(first), tuple(second)), start + size - 1) for (_, start), (first, second) in groups.items())


@settings(max_examples=80, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(((5, 5), (6, 3))))
def test_co_group_and_window_join(steps: list[Step], shape: tuple[int, int]) -> None:
    size, slide = shape
    assigner: Any = TumblingEventTimeWindows(size, 0) if size == slide else SlidingEventTimeWindows(size, slide, 0)
    params = {"window": WindowSettings(assigner, assigner.get_default_trigger(None))}
    groups = grouped(steps, size, slide)

    co_group = OperatorHarness("window_of_two", CoGroupedWindow(BothSides()), params, key=two_keys())
    replay(co_group, steps)
    assert Counter(co_group.results) == groups

    expected: Counter[Any] = Counter()
    for ((first, second), timestamp), count in groups.items():
        expected.update({((one, other), timestamp): count for one in first for other in second})
    for function in (Flat(), lambda first, second: (first[1], second[1])):
        join = OperatorHarness("window_of_two", JoinedWindow(function), params, key=two_keys())
        replay(join, steps)
        assert Counter(join.results) == expected


def late_of(steps: list[Step], size: int, slide: int) -> list[Record]:
    """Records of either side that came when all their windows had ended."""
    watermark, late = MIN_TIMESTAMP, []
    for kind, content in steps:
        if kind == "watermark":
            watermark = max(watermark, content)
        elif kind in ("left", "right"):
            for record in content:
                starts = [s for s in range(record[2] - size + 1, record[2] + 1) if s % slide == 0]
                if all(start + size - 1 <= watermark for start in starts) and record[2] <= watermark:
                    late.append(record)
    return late


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(((5, 5), (6, 3))))
def test_late_records_of_both_streams_go_to_the_side_output_as_they_came(
    steps: list[Step], shape: tuple[int, int]
) -> None:
    assigner: Any = TumblingEventTimeWindows(5, 0) if shape == (5, 5) else SlidingEventTimeWindows(6, 3, 0)
    params = {"window": WindowSettings(assigner, assigner.get_default_trigger(None), late_tag="late")}
    harness = OperatorHarness("window_of_two", CoGroupedWindow(BothSides()), params, key=two_keys())
    replay(harness, steps)
    assert harness.side("late").records == [(record, record[2]) for record in late_of(steps, *shape)]


def test_a_session_grows_by_the_records_of_both_streams() -> None:
    assigner = EventTimeSessionWindows(5)
    params = {"window": WindowSettings(assigner, assigner.get_default_trigger(None))}
    harness = OperatorHarness("window_of_two", CoGroupedWindow(BothSides()), params, key=two_keys())
    harness.push(("a", 1, 10), 10, input_index=0)
    harness.push(("a", 2, 20), 20, input_index=0)
    harness.push(("a", 3, 15), 15, input_index=1)
    harness.push(("b", 4, 15), 15, input_index=1)
    harness.end_of_input(inputs=2)
    assert Counter(harness.results) == Counter({(((1, 2), (3,)), 24): 1, (((), (4,)), 19): 1})
