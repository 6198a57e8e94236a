"""Built-in aggregations over columns give what they give record by record, on random streams."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.functions.rolling import Maximum, MaximumBy, Minimum, MinimumBy, Sum
from penstock.functions.window_count import Count, WithKey
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.chunk import ChunkBuilder, read_chunk
from penstock.runtime.windows.settings import WindowSettings
from penstock.testing.harness import OperatorHarness

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
NAMED = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.LONG()])
FRACTION = Types.TUPLE([Types.STRING(), Types.DOUBLE()])
SHORT_FRACTION = Types.TUPLE([Types.STRING(), Types.FLOAT()])
WINDOWS = (
    TumblingEventTimeWindows(10, 3),
    SlidingEventTimeWindows(10, 5, 2),
    SlidingEventTimeWindows(12, 8, -3),
    SlidingEventTimeWindows(10, 15, 0),
    EventTimeSessionWindows(4),
    EventTimeSessionWindows(9),
)
LATE = "late"

small = st.integers(-5, 5)
huge = st.sampled_from((2**63 - 1, -(2**63), 2**62, 7))
fractions = st.sampled_from((0.0, -0.0, 0.1, 0.2, 0.3, -7.7, 1e16, 1.0, 1e300, float("inf"), -1e300))
odd_fractions = st.sampled_from((float("nan"), float("-inf"), float("inf"), 0.1))
Records = list[tuple[Any, int, int]]  # key, number, timestamp


@st.composite
def streams(draw: st.DrawFn, fractional: bool = False) -> list[tuple[str, Any]]:
    steps: list[tuple[str, Any]] = []
    time = watermark = 0
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(("batch", "batch", "watermark", "cut", "cut")))
        if kind == "batch":
            time += draw(st.sampled_from((0, 3, 12, 40)))
            keys = draw(st.sampled_from(((1, 2, 3), ("a", "b", "ü"), (1, "a"), (1, 1.0, True), (None, 1))))
            kinds: Any = (fractions, fractions, odd_fractions) if fractional else (small, small, small, huge)
            numbers = draw(st.sampled_from(kinds))
            record = st.tuples(st.sampled_from(keys), numbers, st.integers(time - 12, time + 12))
            steps.append((kind, draw(st.lists(record, min_size=1, max_size=12))))
        elif kind == "watermark":
            watermark = max(watermark, time - draw(st.integers(0, 20)))
            steps.append((kind, watermark))
        else:
            steps.append((kind, draw(st.booleans())))
    return steps


def in_columns(records: Records, declared: Any, make: Any) -> Batch:
    """The batch that arrives when these records are sent over a typed edge."""
    builder, codec = ChunkBuilder(), codec_for(declared)
    builder.add(Batch([make(n) for _, n, _ in records], [t for _, _, t in records], [k for k, _, _ in records]))
    [batch] = read_chunk(builder.take(codec), codec)
    assert isinstance(batch, Batch) and batch.columns is not None
    return batch


def run(steps: list[tuple[str, Any]], harness: OperatorHarness, batch_of: Any) -> tuple[list[Any], list[Any]]:
    for kind, content in steps:
        if kind == "batch":
            harness.operator.process(batch_of(content), 0)
        elif kind == "watermark":
            harness.watermark(content)
        else:
            harness.restart(full=content)
    harness.end_of_input()
    return harness.results, harness.side(LATE).records


AGGREGATIONS: dict[str, Any] = {"sum": Sum, "min": Minimum, "max": Maximum, "min_by": MinimumBy, "max_by": MaximumBy}


@pytest.mark.parametrize("aggregation", [*AGGREGATIONS, "count"])
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        st.tuples(streams(), st.sampled_from((PAIR, NAMED, FRACTION))),
        st.tuples(streams(fractional=True), st.sampled_from((FRACTION, SHORT_FRACTION))),
    ),
    st.sampled_from(WINDOWS),
    st.sampled_from((0, 0, 15)),
)
def test_columns_and_records_agree(
    aggregation: str, stream: tuple[list[tuple[str, Any]], Any], assigner: Any, late: int
) -> None:
    steps, declared = stream
    counting = aggregation == "count"
    function = Count() if counting else AGGREGATIONS[aggregation](1, declared)
    window = WindowSettings(
        assigner,
        assigner.get_default_trigger(None),
        allowed_lateness=late,
        late_tag=LATE,
        aggregation=function,
    )
    number = iter(range(10**6))

    def make(amount: int) -> Any:
        name = str(next(number))  # tells records with equal numbers apart
        if declared is NAMED:
            return Row(name=name, amount=amount)
        return (name, amount if declared is PAIR else float(amount))

    def harness() -> OperatorHarness:
        return OperatorHarness("window", WithKey() if counting else None, {"window": window}, key=lambda v: v[0])

    def records(content: Records) -> Batch:
        plain = in_columns(content, declared, make)
        return Batch(plain.values, plain.timestamps, plain.keys)

    expected = run(steps, harness(), records)
    number = iter(range(10**6))
    found = run(steps, harness(), lambda content: in_columns(content, declared, make))
    assert [timestamp for _, timestamp in found[0]] == [timestamp for _, timestamp in expected[0]]
    # Which key of a window comes first says nothing. repr: it tells -0.0 from 0.0, and every NaN is equal to itself.
    assert sorted(map(repr, found[0])) == sorted(map(repr, expected[0]))
    assert repr(found[1]) == repr(expected[1])


def test_a_process_that_rested_keeps_what_it_knows_of_a_window() -> None:
    """Only some keys change while another process has the operator: the others are not in what it has missed."""
    assigner = SlidingEventTimeWindows(10, 5, 0)
    window = WindowSettings(assigner, assigner.get_default_trigger(None), aggregation=Sum(1, PAIR))
    harness = OperatorHarness("window", None, {"window": window})
    for keys in ((1, 2, 3), (4,), (1, 5), (2,), (6,)):
        harness.operator.process(in_columns([(key, 1, 7) for key in keys], PAIR, lambda n: ("x", n)), 0)
        harness.restart()
    harness.end_of_input()
    sums = [2, 2, 1, 1, 1, 1]
    assert sorted((time, value[1]) for value, time in harness.results) == sorted((t, n) for t in (9, 14) for n in sums)


def test_records_stay_columns_until_the_window_fires() -> None:
    window = WindowSettings(
        TumblingEventTimeWindows(10, 0),
        TumblingEventTimeWindows(10, 0).get_default_trigger(None),
        aggregation=Sum(1, PAIR),
    )
    harness = OperatorHarness("window", None, {"window": window})
    batch = in_columns([("a", 1, 1), ("b", 2, 2), ("a", 3, 11)], PAIR, lambda amount: ("x", amount))
    harness.operator.process(batch, 0)
    assert not any(_is_made(batch, name) for name in ("values", "keys", "timestamps"))
    harness.watermark(9)
    assert harness.take() == [("x", 1), ("x", 2)]
    harness.end_of_input()
    assert harness.take() == [("x", 3)]


def _is_made(batch: Batch, name: str) -> bool:
    """Whether a lazily made list exists already."""
    return getattr(batch, f"_{name}") is not None


def test_the_state_of_ten_million_records_is_as_large_as_that_of_the_open_window() -> None:
    assigner = TumblingEventTimeWindows(1000, 0)
    window = WindowSettings(assigner, assigner.get_default_trigger(None), aggregation=Sum(1, PAIR))
    harness = OperatorHarness("window", None, {"window": window})
    keys, per_second, seconds = 50, 100_000, 100
    assert per_second * seconds == 10_000_000
    records: Records = [(number % keys, 1, number // 100) for number in range(per_second)]
    second_of_records = in_columns(records, PAIR, lambda amount: ("x", amount))
    assert second_of_records.times is not None
    sizes = []
    for second in range(seconds):
        times = second_of_records.times + second * 1000
        harness.operator.process(second_of_records.timed(times), 0)
        harness.watermark(second * 1000)
        delta = harness.snapshot()
        harness._snapshots.clear()
        backend = harness.operator.backend  # type: ignore[attr-defined]
        sizes.append((len(delta), len(pickle.dumps({name: t.full_delta() for name, t in backend._tables.items()}))))
        assert harness.take() == [("x", per_second // keys)] * (keys if second else 0)
    for measured in zip(*sizes[10:], strict=True):
        assert min(measured) > 400 and max(measured) <= min(measured) * 1.1
