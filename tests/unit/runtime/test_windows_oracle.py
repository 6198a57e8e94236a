"""Windows against an oracle that keeps every element in a list and recomputes everything, on random streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.datastream.functions import AggregateFunction, ProcessWindowFunction, ReduceFunctionWrapper
from penstock.datastream.window import (
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP
from penstock.runtime.operators.window_merge_law import MergeLaw
from penstock.runtime.operators.window_settings import WindowSettings
from penstock.testing.harness import OperatorHarness

LATE = "late"


@dataclass(frozen=True)
class Element:
    key: str
    number: int
    timestamp: int


@dataclass(frozen=True)
class Program:
    """A random stream: batches of elements, watermarks, clock readings, and cuts between epochs."""

    steps: tuple[tuple[str, Any], ...]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = 0
    steps: list[tuple[str, Any]] = []
    time = watermark = now = 0
    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(("batch", "batch", "batch", "watermark", "clock", "cut")))
        if kind == "batch":
            time += draw(st.sampled_from((0, 0, 3, 11, 60)))  # 60: an idle phase
            batch = []
            for _ in range(draw(st.integers(1, 7))):
                offset = draw(st.sampled_from((0, 0, 1, 2, 5, 9, -1, -4, -13, -30)))
                batch.append(Element(draw(st.sampled_from("abc")), count, time + offset))
                count += 1
            steps.append((kind, batch))
        elif kind == "watermark":
            watermark = max(watermark, time - draw(st.integers(0, 25)))
            steps.append((kind, watermark))
        elif kind == "clock":
            now += draw(st.sampled_from((1, 4, 10, 35)))
            steps.append((kind, now))
        else:
            steps.append((kind, None))
    return Program(tuple(steps))


class Trace(AggregateFunction):
    """Remembers the numbers of the elements in order of arrival, changing its accumulator in place."""

    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: Element, accumulator: list[int]) -> list[int]:
        accumulator.append(value.number)
        return accumulator

    def get_result(self, accumulator: list[int]) -> tuple[int, ...]:
        return tuple(accumulator)

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        acc_a.extend(acc_b)
        return acc_a


class TraceWithoutMerge(Trace):
    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        raise NotImplementedError


class Describe(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        window = context.window()
        name = (window.start, window.end) if hasattr(window, "start") else getattr(window, "id", None)
        yield key, name, tuple(e.number if isinstance(e, Element) else e for e in elements)


def run_engine(program: Program, window: WindowSettings, function: Any) -> tuple[list[Any], list[int]]:
    harness = OperatorHarness(window.kind, function, {"window": window}, key=lambda element: element.key)
    for kind, content in program.steps:
        if kind == "batch":
            harness.push_all(content, [element.timestamp for element in content])
        elif kind == "watermark":
            harness.watermark(content)
        elif kind == "clock":
            harness.processing_time(content)
        else:
            harness.restart()
    harness.end_of_input()
    return harness.results, [element.number for element in harness.side(LATE).values]


class Oracle:
    """Replays a program element by element; subclasses say what windows hold and when they fire."""

    def __init__(self, allowed_lateness: int = 0) -> None:
        self.lateness = allowed_lateness
        self.watermark = MIN_TIMESTAMP
        self.now = 0
        self.results: list[Any] = []
        self.late: list[int] = []

    def run(self, program: Program) -> tuple[list[Any], list[int]]:
        for kind, content in program.steps:
            if kind == "batch":
                for element in content:
                    self.element(element)
            elif kind == "watermark":
                self.advance(content)
            elif kind == "clock":
                self.clock(content)
        self.advance(MAX_TIMESTAMP)
        return self.results, self.late

    def advance(self, watermark: int) -> None:
        if watermark > self.watermark:
            old, self.watermark = self.watermark, watermark
            self.on_watermark(old, watermark)

    def clock(self, now: int) -> None:
        old, self.now = self.now, now
        self.on_clock(old, now)

    def element(self, element: Element) -> None:
        raise NotImplementedError

    def on_watermark(self, old: int, new: int) -> None: ...

    def on_clock(self, old: int, new: int) -> None: ...


def windows_of(time: int, size: int, slide: int, offset: int) -> list[tuple[int, int]]:
    return [(s, s + size) for s in range(time - size + 1, time + 1) if (s - offset) % slide == 0]


class AlignedOracle(Oracle):
    """Tumbling and sliding windows in event time."""

    def __init__(self, size: int, slide: int, offset: int, allowed_lateness: int, purging: bool = False) -> None:
        super().__init__(allowed_lateness)
        self.shape = (size, slide, offset)
        self.purging = purging
        self.held: list[tuple[str, tuple[int, int], int]] = []

    def emit(self, key: str, window: tuple[int, int], timestamp: int) -> None:
        contents = tuple(number for k, w, number in self.held if (k, w) == (key, window))
        if contents:
            self.results.append(((key, window, contents), timestamp))
        if self.purging:
            self.held = [entry for entry in self.held if entry[:2] != (key, window)]

    def element(self, element: Element) -> None:
        alive = [
            window
            for window in windows_of(element.timestamp, *self.shape)
            if window[1] - 1 + self.lateness > self.watermark
        ]
        for window in alive:
            self.held.append((element.key, window, element.number))
            if window[1] - 1 <= self.watermark:
                self.emit(element.key, window, element.timestamp)
        if not alive and element.timestamp + self.lateness <= self.watermark:
            self.late.append(element.number)

    def on_watermark(self, old: int, new: int) -> None:
        for key, window in sorted({entry[:2] for entry in self.held}, key=lambda kw: (kw[1][1], kw[0])):
            if old < window[1] - 1 <= new:
                self.emit(key, window, window[1] - 1)


class SessionOracle(Oracle):
    """Sessions: the touching intervals of a key's elements, found anew each time."""

    def __init__(self, gap: Callable[[Element], int], allowed_lateness: int) -> None:
        super().__init__(allowed_lateness)
        self.gap = gap
        self.alive: list[Element] = []

    def sessions(self, elements: list[Element]) -> list[tuple[int, int, list[Element]]]:
        found: list[tuple[int, int, list[Element]]] = []
        for element in sorted(elements, key=lambda e: e.timestamp):
            start, end = element.timestamp, element.timestamp + self.gap(element)
            if found and found[-1][1] >= start:
                first, last, members = found.pop()
                start, end, members = first, max(last, end), [*members, element]
            else:
                members = [element]
            found.append((start, end, members))
        return found

    def of_key(self, key: str) -> list[tuple[int, int, list[Element]]]:
        return self.sessions([element for element in self.alive if element.key == key])

    def emit(self, session: tuple[int, int, list[Element]], timestamp: int) -> None:
        start, end, members = session
        numbers = tuple(sorted(element.number for element in members))
        self.results.append(((members[0].key, (start, end), numbers), timestamp))

    def element(self, element: Element) -> None:
        self.alive.append(element)
        session = next(s for s in self.of_key(element.key) if element in s[2])
        if session[1] - 1 + self.lateness <= self.watermark:
            self.alive.remove(element)
            if element.timestamp + self.lateness <= self.watermark:
                self.late.append(element.number)
        elif session[1] - 1 <= self.watermark:
            self.emit(session, element.timestamp)

    def on_watermark(self, old: int, new: int) -> None:
        for key in "abc":
            for session in self.of_key(key):
                if old < session[1] - 1 <= new:
                    self.emit(session, session[1] - 1)
                if session[1] - 1 + self.lateness <= new:
                    self.alive = [element for element in self.alive if element not in session[2]]


class CountOracle(Oracle):
    """A count trigger, on one window that holds everything or on tumbling event-time windows."""

    def __init__(self, count: int, size: int | None, purging: bool, keep: int | None = None) -> None:
        super().__init__()
        self.count, self.size, self.purging, self.keep = count, size, purging, keep
        self.all: dict[Any, list[int]] = {}

    def element(self, element: Element) -> None:
        window = None
        if self.size is not None:
            window = windows_of(element.timestamp, self.size, self.size, 0)[0]
            if window[1] - 1 <= self.watermark:
                self.late.append(element.number)
                return
        held = self.all.setdefault((element.key, window), [])
        held.append(element.number)
        if len(held) % self.count == 0:
            contents = held[-self.count :] if self.purging else held
            contents = contents if self.keep is None else contents[-self.keep :]
            self.results.append(((element.key, window, tuple(contents)), element.timestamp))


class CountWindowOracle(Oracle):
    """Windows of a number of elements: fired when full, and only then."""

    def __init__(self, size: int, slide: int) -> None:
        super().__init__()
        self.size, self.slide = size, slide
        self.seen: dict[str, list[int]] = {}

    def element(self, element: Element) -> None:
        seen = self.seen.setdefault(element.key, [])
        seen.append(element.number)
        first = len(seen) - self.size
        if first >= 0 and first % self.slide == 0:
            window = first // self.slide
            self.results.append(((element.key, window, tuple(seen[first:])), element.timestamp))


class ProcessingTimeOracle(Oracle):
    """Tumbling and sliding windows by the clock; what is open at the end is lost."""

    def __init__(self, size: int, slide: int) -> None:
        super().__init__()
        self.size, self.slide = size, slide
        self.held: list[tuple[str, tuple[int, int], int]] = []

    def element(self, element: Element) -> None:
        for window in windows_of(self.now, self.size, self.slide, 0):
            self.held.append((element.key, window, element.number))

    def on_clock(self, old: int, new: int) -> None:
        for key, window in sorted({entry[:2] for entry in self.held}):
            if old < window[1] <= new:
                contents = tuple(number for k, w, number in self.held if (k, w) == (key, window))
                self.results.append(((key, window, contents), window[1] - 1))


def check(engine: tuple[list[Any], list[int]], oracle: tuple[list[Any], list[int]]) -> None:
    assert Counter(engine[0]) == Counter(oracle[0])
    assert engine[1] == oracle[1]


def random_programs(examples: int) -> Callable[[Any], Any]:
    def decorate(test: Any) -> Any:
        quiet = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        return quiet(test)

    return decorate


lateness = st.sampled_from((0, 0, 4, 25))
shapes = st.sampled_from(
    ((10, 10, 0), (10, 10, 3), (7, 7, -2), (20, 10, 0), (20, 5, 2), (12, 8, -3), (7, 5, 1), (10, 15, 0), (8, 2, 0))
)


def aligned(size: int, slide: int, offset: int) -> Any:
    if size == slide:
        return TumblingEventTimeWindows(size, offset)
    return SlidingEventTimeWindows(size, slide, offset)


def default(assigner: Any, **choices: Any) -> WindowSettings:
    choices.setdefault("trigger", assigner.get_default_trigger(None))
    return WindowSettings(assigner, late_tag=LATE, **choices)


@random_programs(120)
@given(programs(), shapes, lateness)
def test_aligned_windows_of_elements(program: Program, shape: tuple[int, int, int], late: int) -> None:
    window = default(aligned(*shape), allowed_lateness=late)
    assert window.kind == "window"
    check(run_engine(program, window, Describe()), AlignedOracle(*shape, late).run(program))


@random_programs(200)
@given(programs(), shapes, lateness, st.sampled_from((0, 1, 64)), st.sampled_from((Trace, TraceWithoutMerge)))
def test_aligned_windows_with_incremental_aggregation(
    program: Program, shape: tuple[int, int, int], late: int, proofs: int, function: type[Trace]
) -> None:
    # proofs says how soon sliding windows share panes: at once, after the first records, (here) never
    if function is TraceWithoutMerge:
        proofs = 64
    window = default(aligned(*shape), allowed_lateness=late, aggregation=function())
    assert window.kind in ("tumbling_window", "sliding_window")
    with patch.object(MergeLaw, "PROOFS_WANTED", proofs):
        results, late_elements = run_engine(program, window, Describe())
    unpacked = [((key, w, trace), timestamp) for (key, w, (trace,)), timestamp in results]
    check((unpacked, late_elements), AlignedOracle(*shape, late).run(program))


@random_programs(40)
@given(programs(), shapes, lateness)
def test_the_fast_operators_agree_with_the_general_one_without_window_function(
    program: Program, shape: tuple[int, int, int], late: int
) -> None:
    total = ReduceFunctionWrapper(lambda a, b: Element(a.key, a.number * 3 + b.number, b.timestamp))
    window = default(aligned(*shape), allowed_lateness=late, aggregation=total)
    harness = OperatorHarness("window", None, {"window": window}, key=lambda element: element.key)
    for kind, content in program.steps:
        if kind == "batch":
            harness.push_all(content, [element.timestamp for element in content])
        elif kind == "watermark":
            harness.watermark(content)
    harness.end_of_input()
    assert Counter(run_engine(program, window, None)[0]) == Counter(harness.results)


@random_programs(60)
@given(programs(), shapes, lateness)
def test_a_purging_trigger_empties_the_window(program: Program, shape: tuple[int, int, int], late: int) -> None:
    assigner = aligned(*shape)
    window = default(assigner, allowed_lateness=late, trigger=PurgingTrigger.of(assigner.get_default_trigger(None)))
    oracle = AlignedOracle(*shape, late, purging=True)
    check(run_engine(program, window, Describe()), oracle.run(program))


def gap_of(element: Element) -> int:
    return 4 + element.number % 3 * 5


@random_programs(120)
@given(programs(), lateness, st.booleans(), st.booleans())
def test_sessions(program: Program, late: int, dynamic: bool, incremental: bool) -> None:
    assigner: Any = DynamicEventTimeSessionWindows(gap_of) if dynamic else EventTimeSessionWindows(8)  # type: ignore[arg-type]
    window = default(assigner, allowed_lateness=late, aggregation=Trace() if incremental else None)
    results, late_elements = run_engine(program, window, Describe())
    sorted_results = [
        ((key, w, tuple(sorted(contents[0] if incremental else contents))), timestamp)
        for (key, w, contents), timestamp in results
    ]
    oracle = SessionOracle(gap_of if dynamic else lambda _: 8, late)
    check((sorted_results, late_elements), oracle.run(program))


@random_programs(60)
@given(programs(), st.integers(1, 4), st.sampled_from((None, 10)), st.booleans())
def test_count_triggers(program: Program, count: int, size: int | None, purging: bool) -> None:
    assigner: Any = GlobalWindows() if size is None else TumblingEventTimeWindows(size, 0)
    trigger: Any = PurgingTrigger.of(CountTrigger.of(count)) if purging else CountTrigger.of(count)
    window = default(assigner, trigger=trigger)
    check(run_engine(program, window, Describe()), CountOracle(count, size, purging).run(program))


@random_programs(40)
@given(programs(), st.integers(1, 3), st.integers(1, 5))
def test_count_evictor_keeps_the_last_elements(program: Program, count: int, keep: int) -> None:
    # Flink's sliding count window: fires from the first slide on
    window = default(GlobalWindows(), trigger=CountTrigger.of(count), evictor=CountEvictor.of(keep))
    check(run_engine(program, window, Describe()), CountOracle(count, None, False, keep).run(program))


@random_programs(40)
@given(programs(), st.integers(1, 4), st.integers(1, 4))
def test_count_windows(program: Program, size: int, slide: int) -> None:
    assigner: Any = CountTumblingWindowAssigner(size) if size == slide else CountSlidingWindowAssigner(size, slide)
    window = default(assigner)
    check(run_engine(program, window, Describe()), CountWindowOracle(size, slide).run(program))


@random_programs(50)
@given(programs(), st.sampled_from(((10, 10), (10, 5), (30, 10))))
def test_processing_time_windows(program: Program, shape: tuple[int, int]) -> None:
    size, slide = shape
    assigner: Any = (
        TumblingProcessingTimeWindows(size, 0) if size == slide else SlidingProcessingTimeWindows(size, slide, 0)
    )
    window = default(assigner)
    check(run_engine(program, window, Describe()), ProcessingTimeOracle(size, slide).run(program))
