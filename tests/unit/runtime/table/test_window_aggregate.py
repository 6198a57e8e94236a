"""Aggregates over windows of SQL against a naive reference, for any cut into batches and any restarts."""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtime.table.table_harness import Change, TableHarness

from penstock.columns.typed.nodes import Aggregate, InputRef
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.window_aggregate import WindowAggregateParams
from penstock.runtime.table.window_times import WindowParams

EPOCH = datetime.datetime(1970, 1, 1)
ROWS = TableRowType(["k", "v", "ts"], [DataTypes.STRING(), DataTypes.BIGINT(), DataTypes.TIMESTAMP(3)])
RESULT = TableRowType(
    ["s", "k", "e", "n", "sum"],
    [
        DataTypes.TIMESTAMP(3), DataTypes.STRING(), DataTypes.TIMESTAMP(3), DataTypes.BIGINT(False), DataTypes.BIGINT(),
    ],
)  # fmt: skip
CALLS = (
    Aggregate(DataTypes.BIGINT(False), "count", ()),
    Aggregate(DataTypes.BIGINT(), "sum", (InputRef(DataTypes.BIGINT(), 1, "v"),)),
)
WINDOWS = {
    "tumble": WindowParams("TUMBLE", 10, offset=3, time_column=2),
    "hop": WindowParams("HOP", 10, 4, time_column=2),
    "cumulate": WindowParams("CUMULATE", 12, 4, time_column=2),
    "session": WindowParams("SESSION", 5, time_column=2),
}

Event = tuple[str, int, int] | int  # key, value, time; or a watermark


def at(millis: int) -> datetime.datetime:
    return EPOCH + datetime.timedelta(milliseconds=millis)


def harness(window: WindowParams) -> TableHarness:
    params = WindowAggregateParams(ROWS, (0,), CALLS, window, ("start", 0, "end"))
    kind = "table_session_aggregate" if window.kind == "SESSION" else "table_window_aggregate"
    return TableHarness(kind, {"aggregate": params}, [(ROWS, (0,))], RESULT)


def spans(window: WindowParams, time: int) -> list[tuple[int, int]]:
    """All windows of a moment, by trying every start."""
    size, offset = window.size, window.offset
    if window.kind == "CUMULATE":
        assert window.slide is not None
        start = (time - offset) // size * size + offset
        return [(start, end) for end in range(start + window.slide, start + size + 1, window.slide) if end > time]
    slide = window.slide or size
    starts = [start for start in range(time - size + 1, time + 1) if (start - offset) % slide == 0]
    return [(start, start + size) for start in starts]


def aligned(window: WindowParams, events: list[Event]) -> list[tuple[Any, ...]]:
    open_windows: dict[Any, list[int]] = defaultdict(list)
    watermark, found = -(1 << 60), []
    for event in [*events, 1 << 60]:
        if isinstance(event, int):
            watermark = max(watermark, event)
            for key, span in [entry for entry in open_windows if entry[1][1] - 1 <= watermark]:
                values = open_windows.pop((key, span))
                found.append((at(span[0]), key, at(span[1]), len(values), sum(values)))
            continue
        key, value, time = event
        for span in spans(window, time):
            if span[1] - 1 > watermark:
                open_windows[key, span].append(value)
    return sorted(found)


def sessions(window: WindowParams, events: list[Event]) -> list[tuple[Any, ...]]:
    open_windows: list[tuple[str, int, int, list[int]]] = []
    watermark, found = -(1 << 60), []
    for event in [*events, 1 << 60]:
        if isinstance(event, int):
            watermark = max(watermark, event)
            for one in [one for one in open_windows if one[2] - 1 <= watermark]:
                open_windows.remove(one)
                found.append((at(one[1]), one[0], at(one[2]), len(one[3]), sum(one[3])))
            continue
        key, value, time = event
        start, end, values = time, time + window.size, [value]
        touching = [one for one in open_windows if one[0] == key and one[1] <= end and start <= one[2]]
        for one in touching:
            start, end, values = min(start, one[1]), max(end, one[2]), values + one[3]
        if end - 1 > watermark:
            open_windows = [one for one in open_windows if one not in touching]
            open_windows.append((key, start, end, values))
    return sorted(found, key=repr)


events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("ab"), st.integers(-9, 9), st.integers(0, 60)),
        st.tuples(st.sampled_from("ab"), st.integers(-9, 9), st.integers(0, 60)),
        st.integers(0, 60),
    ),
    max_size=30,
)


@pytest.mark.parametrize("name", list(WINDOWS))
@given(stream=events, cuts=st.sets(st.integers(1, 30)), restarts=st.sets(st.integers(1, 30)))
@settings(max_examples=40, deadline=None)
def test_windows_hold_what_came_before_they_were_complete(
    name: str, stream: list[Event], cuts: set[int], restarts: set[int]
) -> None:
    window = WINDOWS[name]
    operator = harness(window)
    batch: list[Change] = []
    for place, event in enumerate([*stream, 0]):
        if isinstance(event, int) or place in cuts:
            if batch:
                operator.rows(batch)
                batch = []
            if place in restarts:
                operator.restart(full=place % 2 == 0)
        if isinstance(event, int):
            operator.watermark(event)
        else:
            batch.append(("+I", (event[0], event[1], at(event[2]))))
    operator.end_of_input()
    reference = sessions if window.kind == "SESSION" else aligned
    assert sorted((row for _, row in operator.changes()), key=repr) == sorted(reference(window, stream), key=repr)


@pytest.mark.parametrize("seed", range(8))
def test_sessions_of_many_keys(seed: int) -> None:
    """Several sessions of a key are open at once, rows join them late, and batches join many of them."""
    rng = random.Random(seed)
    keyed = TableRowType(["k", "v", "ts"], [DataTypes.BIGINT(), DataTypes.BIGINT(), DataTypes.TIMESTAMP(3)])
    params = WindowAggregateParams(keyed, (0,), CALLS, WINDOWS["session"], ("start", 0, "end"))
    result = TableRowType(RESULT.names, [RESULT.types[0], DataTypes.BIGINT(), *RESULT.types[2:]])
    operator = TableHarness("table_session_aggregate", {"aggregate": params}, [(keyed, (0,))], result)
    stream: list[Any] = []
    for step in range(40):
        rows = [(rng.randrange(20), rng.randrange(9), max(0, step * 4 + rng.randrange(-30, 30))) for _ in range(25)]
        if rng.random() < 0.1:
            rows.append((None, 1, step * 4))
        stream += [*rows, step * 4 - 20]
        operator.rows([("+I", (key, value, at(time))) for key, value, time in rows])
        operator.watermark(step * 4 - 20)
        if rng.random() < 0.2:
            operator.restart(full=rng.random() < 0.5)
    operator.end_of_input()
    found = sorted((row for _, row in operator.changes()), key=repr)
    assert found == sorted(sessions(WINDOWS["session"], stream), key=repr)
