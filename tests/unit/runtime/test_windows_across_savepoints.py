"""What a program may change between a savepoint of its windows and the restart, on random streams, and what not."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.runtime.test_windows_oracle import (
    LATE,
    Bag,
    Describe,
    Trace,
    Undisguised,
    aligned,
    check,
    lateness,
    shapes,
)
from tests.unit.runtime.window_oracles import AlignedOracle, Element, Program, SessionOracle, Shape, programs

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.datastream.functions import ReduceFunctionWrapper
from penstock.datastream.window import (
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.functions.rolling import Sum
from penstock.runtime.blueprint import JobSettings
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.windows.settings import WindowSettings
from penstock.testing.harness import OperatorHarness

quiet = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
QUICK, GENERAL, EVICTED = EventTimeTrigger(), Undisguised(), "with an evictor that keeps everything"


@dataclass
class Saved:
    """A savepoint of one operator subtask."""

    tables: list[Any]
    rest: Any


class Harness(OperatorHarness):
    """May keep its state on disk, be saved, and start from a savepoint of another program."""

    def __init__(self, window: WindowSettings, function: Any, directory: Path | None = None) -> None:
        self._directory = directory
        super().__init__("window", function, {"window": window}, key=lambda value: value[0])

    def _build(self) -> Any:
        blueprint = pickle.loads(self._program)
        store = None if self._directory is None else DiskStore(str(self._directory), 1 << 20)
        context = SubtaskContext(blueprint, JobSettings("0" * 32, "harness"), 0, lambda: self.now, store)
        operator = OPERATORS[blueprint.kind](blueprint, context)
        operator.connect(self.output, self.side_outputs)
        return operator

    def save(self) -> Saved:
        self.snapshot()
        operator: Any = self.operator
        return pickle.loads(pickle.dumps(Saved(list(operator.backend.pieces()), operator.saved_state())))

    def start_from(self, saved: Saved) -> None:
        for name, schema, entries in saved.tables:
            self.operator.take_over_table(name, schema, entries)
        self.operator.take_over({0: saved.rest}, 1)


def with_path(window: WindowSettings, path: Any) -> WindowSettings:
    if path is EVICTED:
        return replace(window, evictor=CountEvictor.of(10**6))
    return replace(window, trigger=path)


def run(program: Program, cut: int, before: Harness, after: Harness) -> tuple[list[Any], list[int]]:
    harness = before
    for number, (step, content) in enumerate(program.steps):
        if number == cut:
            after.start_from(before.save())
            harness = after
        if step == "batch":
            harness.push_all([(e.key, e) for e in content], [e.timestamp for e in content])
        elif step == "watermark":
            harness.watermark(content)
        elif step == "cut":
            harness.snapshot(full=True)
    if harness is before:
        after.start_from(before.save())
    after.end_of_input()
    late = [value[1].number for h in (before, after) for value in h.side(LATE).values]
    return [*before.results, *after.results], late


class Elements(Describe):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        return super().process(key, context, [element for _, element in elements])


class TraceOfPairs(Trace):
    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        return super().add(value[1], accumulator)


class BagOfPairs(Bag):
    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        return super().add(value[1], accumulator)


paths = st.sampled_from((QUICK, GENERAL, EVICTED))


@pytest.mark.parametrize("function", [None, TraceOfPairs, BagOfPairs])
@quiet
@given(programs(), st.integers(0, 14), shapes, lateness, paths, st.sampled_from((QUICK, GENERAL)), st.booleans())
def test_the_path_of_aligned_windows_may_change(
    function: Any,
    tmp_path_factory: pytest.TempPathFactory,
    program: Program,
    cut: int,
    shape: Shape,
    late: int,
    before: Any,
    after: Any,
    on_disk: bool,
) -> None:
    aggregation = None if function is None else function()
    window = WindowSettings(aligned(*shape), QUICK, allowed_lateness=late, late_tag=LATE, aggregation=aggregation)
    describe = Elements() if function is None else Describe()
    directory = tmp_path_factory.mktemp("state") if on_disk else None
    first, second = Harness(with_path(window, before), describe), Harness(with_path(window, after), describe, directory)
    results, late_elements = run(program, cut, first, second)
    expected, expected_late = AlignedOracle(shape, late).run(program)
    if function is not None:
        results = [((key, w, trace), timestamp) for (key, w, (trace,)), timestamp in results]
    if function is BagOfPairs:
        expected = [((key, w, tuple(sorted(numbers))), timestamp) for (key, w, numbers), timestamp in expected]
    check((results, late_elements), (expected, expected_late))


def test_a_window_that_has_fired_does_not_fire_again_of_slices_that_later_ones_still_need() -> None:
    sliding = WindowSettings(aligned(20, 10, 0), QUICK, aggregation=BagOfPairs())
    program = Program((("batch", [Element("a", 1, -1), Element("a", 2, 0)]), ("watermark", 0)))
    results, _ = run(program, 2, Harness(sliding, Describe()), Harness(with_path(sliding, GENERAL), Describe()))
    assert [window for (_, window, _), _ in results] == [(-20, 0), (-10, 10), (0, 20)]


@pytest.mark.parametrize("path", [QUICK, GENERAL])
def test_a_record_between_two_windows_is_late_when_the_watermark_has_passed_it(path: Any) -> None:
    hopping = WindowSettings(aligned(10, 15, 0), QUICK, late_tag=LATE, aggregation=BagOfPairs())
    steps = ("batch", [Element("a", 1, 11)]), ("watermark", 11), ("batch", [Element("a", 2, 11), Element("a", 3, 12)])
    results, late = run(Program(steps), 3, Harness(with_path(hopping, path), Describe()), Harness(hopping, Describe()))
    assert (results, late) == ([], [2])


@pytest.mark.parametrize("function", [None, TraceOfPairs])
@quiet
@given(programs(), st.integers(0, 14), lateness, paths, st.sampled_from((QUICK, GENERAL)))
def test_the_path_of_sessions_may_change(
    function: Any, program: Program, cut: int, late: int, before: Any, after: Any
) -> None:
    assigner: Any = EventTimeSessionWindows(8)
    aggregation = None if function is None else function()
    window = WindowSettings(assigner, QUICK, allowed_lateness=late, late_tag=LATE, aggregation=aggregation)
    describe = Elements() if function is None else Describe()
    first, second = (Harness(with_path(window, path), describe) for path in (before, after))
    results, late_elements = run(program, cut, first, second)
    ordered = [
        ((key, w, tuple(sorted(contents if function is None else contents[0]))), timestamp)
        for (key, w, contents), timestamp in results
    ]
    check((ordered, late_elements), SessionOracle(lambda _: 8, late).run(program))


TEN = TumblingEventTimeWindows(10, 0)
PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


def add(a: Any, b: Any) -> Any:
    return a[0], a[1] + b[1]


def saved(window: WindowSettings, *timestamps: int) -> Saved:
    harness = Harness(window, None)
    harness.push_all([("a", 1)] * len(timestamps), timestamps)
    return harness.save()


def started(window: WindowSettings, state: Saved) -> Harness:
    harness = Harness(window, None)
    harness.start_from(state)
    return harness


SLIDING = SlidingEventTimeWindows(20, 10, 0)


@pytest.mark.parametrize("assigner", [TEN, SLIDING])
def test_a_built_in_sum_may_become_a_reduce_function_and_back(assigner: Any) -> None:
    built_in = WindowSettings(assigner, QUICK, aggregation=Sum(1, PAIR))
    own = replace(built_in, aggregation=ReduceFunctionWrapper(add))
    for first, second in ((built_in, own), (own, built_in)):
        harness = started(second, saved(first, 1, 2, 3))
        harness.push(("a", 1), 4)
        harness.end_of_input()
        assert set(harness.output.values) == {("a", 4)}


def test_another_trigger_goes_on_with_what_the_windows_hold() -> None:
    counting = WindowSettings(TEN, CountTrigger.of(2), aggregation=ReduceFunctionWrapper(add))
    harness = started(counting, saved(replace(counting, trigger=QUICK), 1, 2, 3))
    harness.push_all([("a", 1)] * 2, [4, 5])
    assert harness.take() == [("a", 5)]
    harness.end_of_input()
    assert harness.take() == []
    back = started(replace(counting, trigger=QUICK), saved(counting, 1, 2, 3))
    back.end_of_input()
    assert back.take() == [("a", 3)]
    other = started(replace(counting, trigger=GENERAL), saved(counting, 1, 2, 3))
    other.end_of_input()
    other.snapshot()
    tables: Any = other.operator
    assert {name: dict(t.base) for name, t in tables.backend._tables.items() if t.base} == {}


def test_a_longer_lateness_keeps_windows_longer() -> None:
    short = WindowSettings(TEN, GENERAL, aggregation=ReduceFunctionWrapper(add))
    for trigger in (QUICK, GENERAL):
        harness = started(replace(short, trigger=trigger, allowed_lateness=50), saved(short, 1, 2))
        harness.watermark(30)
        harness.push(("a", 1), 3)
        assert harness.take() == [("a", 2), ("a", 3)]


def test_windows_of_another_size_end_as_they_were() -> None:
    ten = WindowSettings(TEN, QUICK, aggregation=ReduceFunctionWrapper(add))
    harness = started(replace(ten, assigner=TumblingEventTimeWindows(100, 0)), saved(ten, 1, 2))
    harness.push(("a", 1), 3)
    harness.end_of_input()
    assert Counter(harness.results) == Counter({(("a", 2), 9): 1, (("a", 1), 99): 1})


def test_what_cannot_be_had_back_is_refused() -> None:
    folded = WindowSettings(TEN, QUICK, aggregation=ReduceFunctionWrapper(add))
    with pytest.raises(ProgramError, match="the elements cannot be had back"):
        started(replace(folded, aggregation=None), saved(folded, 1))
    with pytest.raises(ProgramError, match="the elements cannot be had back"):
        started(replace(folded, evictor=CountEvictor.of(1)), saved(folded, 1))
    slices = WindowSettings(SLIDING, QUICK, aggregation=Sum(1, PAIR))
    with pytest.raises(ProgramError, match="parts of windows, each 10 ms long"):
        started(replace(slices, assigner=SlidingEventTimeWindows(20, 5, 0)), saved(slices, 1))


def test_a_log_of_another_path_is_refused() -> None:
    quick = WindowSettings(TEN, QUICK, aggregation=ReduceFunctionWrapper(add))
    harness = Harness(quick, None)
    harness.push(("a", 1), 1)
    snapshot = pickle.loads(harness.snapshot(full=True))
    with pytest.raises(ProgramError, match="start the changed one from that"):
        Harness(replace(quick, trigger=GENERAL), None).operator.load(snapshot)
