"""Interval, temporal and window joins against naive references, for any cut into batches and any restarts."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtime.table.table_harness import TableHarness

from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.interval_join import IntervalJoinParams, TimedSide
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.temporal_join import TemporalJoinParams
from penstock.runtime.table.window_join import WindowedSide, WindowJoinParams

EPOCH = datetime.datetime(1970, 1, 1)
ROWS = TableRowType(["id", "k", "ts"], [DataTypes.INT(), DataTypes.STRING(), DataTypes.TIMESTAMP(3)])
BOTH = TableRowType([f"c{place}" for place in range(6)], [*ROWS.types, *ROWS.types])

Event = tuple[int, str, int, str, int]  # input, kind, id, key, time


def at(millis: int) -> datetime.datetime:
    return EPOCH + datetime.timedelta(milliseconds=millis)


@st.composite
def streams(draw: Any, deletes: bool = False) -> list[Event | int]:
    """Rows of two sides that are never late, and watermarks between them."""
    watermark, found = 0, []
    for number in range(draw(st.integers(0, 25))):
        if draw(st.integers(0, 4)) == 0:
            watermark = draw(st.integers(watermark, watermark + 8))
            found.append(watermark)
            continue
        side = draw(st.integers(0, 1))
        kind = draw(st.sampled_from(["+I", "+U", "-D"])) if deletes and side == 1 else "+I"
        time = watermark + 1 + draw(st.integers(0, 12))
        found.append((side, kind, number, draw(st.sampled_from(["a", "b", None])), time))
    return found


def run(join: TableHarness, stream: list[Event | int], restarts: set[int]) -> list[tuple[Any, ...]]:
    start = 0
    for end in range(1, len(stream) + 1):
        first = stream[start]
        if isinstance(first, int):
            join.watermark(first)
        elif end == len(stream) or isinstance(stream[end], int) or stream[end][0] != first[0] or end % 3 == 0:
            rows = [(one[1], (one[2], one[3], at(one[4]))) for one in stream[start:end] if not isinstance(one, int)]
            join.rows(rows, first[0])
        else:
            continue
        start = end
        if end in restarts:
            join.restart(full=end % 2 == 0)
    join.end_of_input(2)
    return sorted((row for _, row in join.changes()), key=repr)


def sides(stream: list[Event | int]) -> tuple[list[Event], list[Event]]:
    rows = [event for event in stream if not isinstance(event, int)]
    return [row for row in rows if row[0] == 0], [row for row in rows if row[0] == 1]


def values(row: Event | None) -> tuple[Any, ...]:
    return (None, None, None) if row is None else (row[2], row[3], at(row[4]))


def joined(kind: str, pairs: list[tuple[Event, Event]], left: list[Event], right: list[Event]) -> list[tuple[Any, ...]]:
    found = [values(one) + values(other) for one, other in pairs]
    if kind in ("LEFT", "FULL"):
        found += [values(row) + values(None) for row in left if all(row is not one for one, _ in pairs)]
    if kind in ("RIGHT", "FULL"):
        found += [values(None) + values(row) for row in right if all(row is not other for _, other in pairs)]
    return sorted(found, key=repr)


@pytest.mark.parametrize("nulls_match", [False, True])
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL"])
@given(stream=streams(), restarts=st.sets(st.integers(1, 25)))
@settings(max_examples=25, deadline=None)
def test_interval_join(kind: str, nulls_match: bool, stream: list[Event | int], restarts: set[int]) -> None:
    side = TimedSide(ROWS, (1,), 2, (1,) if nulls_match else ())
    params = IntervalJoinParams(kind, side, side, -3, 5)
    join = TableHarness("table_interval_join", {"join": params}, [(ROWS, (1,)), (ROWS, (1,))], BOTH)
    left, right = sides(stream)
    pairs = [
        (one, other)
        for one in left
        for other in right
        if (nulls_match or one[3] is not None) and one[3] == other[3] and -3 <= one[4] - other[4] <= 5
    ]
    assert run(join, stream, restarts) == joined(kind, pairs, left, right)
    assert all(len(side.store) == 0 for side in join.operator._sides)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
@given(stream=streams(deletes=True), restarts=st.sets(st.integers(1, 25)))
@settings(max_examples=25, deadline=None)
def test_temporal_join(kind: str, stream: list[Event | int], restarts: set[int]) -> None:
    side = TimedSide(ROWS, (1,), 2)
    params = TemporalJoinParams(kind, side, side)
    join = TableHarness("table_temporal_join", {"join": params}, [(ROWS, (1,)), (ROWS, (1,))], BOTH)
    left, right = sides(stream)
    pairs = []
    for row in left:
        versions = [other for other in right if row[3] is not None and other[3] == row[3] and other[4] <= row[4]]
        if versions:
            latest = max(enumerate(versions), key=lambda item: (item[1][4], item[0]))[1]
            if latest[1] != "-D":
                pairs.append((row, latest))
    assert run(join, stream, restarts) == joined(kind, pairs, left, right)


@pytest.mark.parametrize("nulls_match", [False, True])
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"])
@given(stream=streams(), restarts=st.sets(st.integers(1, 25)))
@settings(max_examples=20, deadline=None)
def test_window_join(kind: str, nulls_match: bool, stream: list[Event | int], restarts: set[int]) -> None:
    """The time column stands for the end of the window."""
    side = WindowedSide(ROWS, (1, 2), 2, (1,) if nulls_match else ())
    params = WindowJoinParams(kind, side, side)
    output = ROWS if kind in ("SEMI", "ANTI") else BOTH
    join = TableHarness("table_window_join", {"join": params}, [(ROWS, (1, 2)), (ROWS, (1, 2))], output)
    stream = [event if isinstance(event, int) else (*event[:4], event[4] // 4 * 4 + 5) for event in stream]
    left, right = sides(stream)
    pairs = [
        (one, other) for one in left for other in right if (nulls_match or one[3] is not None) and one[3:] == other[3:]
    ]
    if kind in ("SEMI", "ANTI"):
        matched = [row for row in left if any(row is one for one, _ in pairs) == (kind == "SEMI")]
        assert run(join, stream, restarts) == sorted((values(row) for row in matched), key=repr)
    else:
        assert run(join, stream, restarts) == joined(kind, pairs, left, right)


def test_old_versions_are_given_up() -> None:
    side = TimedSide(ROWS, (1,), 2)
    join = TableHarness(
        "table_temporal_join", {"join": TemporalJoinParams("INNER", side, side)}, [(ROWS, (1,)), (ROWS, (1,))], BOTH
    )
    for start in range(0, 20_000, 1_000):
        join.rows([("+U", (number, "a", at(number))) for number in range(start, start + 1_000)], 1)
        join.watermark(start + 500)
    assert len(join.operator._versions) < 5_000  # type: ignore[attr-defined]
