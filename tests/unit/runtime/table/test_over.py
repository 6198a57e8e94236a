"""OVER windows and temporal sort against a naive reference, for any cut into batches and any restarts."""

from __future__ import annotations

import datetime
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtime.table.table_harness import Change, TableHarness

from penstock.columns.typed.nodes import Aggregate, InputRef, SortKey
from penstock.columns.typed.python_call import PythonFunction
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.over import OverParams
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.temporal_sort import TemporalSortParams

EPOCH = datetime.datetime(1970, 1, 1)
VALUE = InputRef(DataTypes.BIGINT(), 1, "v")
ROWS = TableRowType(["k", "v", "ts"], [DataTypes.STRING(), DataTypes.BIGINT(), DataTypes.TIMESTAMP(3)])
RESULT = TableRowType(
    [*ROWS.names, "n", "sum", "max"],
    [*ROWS.types, DataTypes.BIGINT(False), DataTypes.BIGINT(), DataTypes.BIGINT()],
)
CALLS = (
    Aggregate(DataTypes.BIGINT(False), "count", ()),
    Aggregate(DataTypes.BIGINT(), "sum", (VALUE,)),
    Aggregate(DataTypes.BIGINT(), "max", (VALUE,)),
)

Event = tuple[str, int, int] | int


def at(millis: int) -> datetime.datetime:
    return EPOCH + datetime.timedelta(milliseconds=millis)


def run(operator: TableHarness, stream: list[Event], cuts: set[int], restarts: set[int]) -> list[Change]:
    batch: list[Change] = []
    for place, event in enumerate([*stream, -1]):
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
    return operator.changes()


def reference(stream: list[Event], by_rows: bool, preceding: int | None) -> list[tuple[Any, ...]]:
    watermark = -(1 << 60)
    waiting: list[tuple[str, int, int]] = []
    seen: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    last: dict[str, int] = {}
    cleanup: dict[str, int] = {}
    found = []
    for event in [*stream, 1 << 60]:
        if not isinstance(event, int):
            limit = watermark if preceding is None else last.get(event[0], -(1 << 60))
            if event[2] > limit:
                waiting.append(event)
                if cleanup.get(event[0], -(1 << 60)) < event[2] + (preceding or 0) + 1:
                    cleanup[event[0]] = event[2] + int((preceding or 0) * 1.5) + 1
            continue
        if event <= watermark:
            continue
        watermark = event
        due = sorted((row for row in waiting if row[2] <= watermark), key=lambda row: row[2])
        waiting = [row for row in waiting if row[2] > watermark]
        for number, row in enumerate(due):
            seen[row[0]].append(row)
            last[row[0]] = row[2]
            rows = list(seen[row[0]])
            if not by_rows:
                rows += [peer for peer in due[number + 1 :] if peer[0] == row[0] and peer[2] == row[2]]
            if preceding is not None:
                rows = rows[-preceding - 1 :] if by_rows else [one for one in rows if one[2] >= row[2] - preceding]
            values = [one[1] for one in rows]
            found.append((row[0], row[1], at(row[2]), len(values), sum(values), max(values)))
        for key in [
            key for key, moment in cleanup.items() if moment <= watermark and not by_rows and preceding is not None
        ]:
            for state in (seen, last, cleanup):
                state.pop(key, None)  # type: ignore[attr-defined]
    return found


row = st.tuples(st.sampled_from("ab"), st.integers(-9, 9), st.integers(0, 30))
events = st.lists(st.one_of(row, row, st.integers(0, 30)), max_size=30)


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("preceding", [None, 0, 2, 5])
@given(stream=events, cuts=st.sets(st.integers(1, 30)), restarts=st.sets(st.integers(1, 30)))
@settings(max_examples=25, deadline=None)
def test_rows_see_those_before_them(
    by_rows: bool, preceding: int | None, stream: list[Event], cuts: set[int], restarts: set[int]
) -> None:
    params = OverParams(ROWS, (0,), 2, CALLS, by_rows, preceding)
    operator = TableHarness("table_over", {"over": params}, [(ROWS, (0,))], RESULT)
    found = [values for _, values in run(operator, stream, cuts, restarts)]
    assert found == reference(stream, by_rows, preceding)


class Listed:
    """A function of Series that tells what it was given."""

    def open(self, context: Any) -> None:
        self.opened = True

    def close(self) -> None:
        self.opened = False

    def eval(self, values: Any, times: Any) -> str:
        assert self.opened
        return ",".join(f"{value}@{time.microsecond // 1000}" for value, time in zip(values, times, strict=True))


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("preceding", [0, 2, 5])
@given(stream=events, cuts=st.sets(st.integers(1, 30)), restarts=st.sets(st.integers(1, 30)))
@settings(max_examples=25, deadline=None)
def test_functions_of_series_are_given_the_rows_of_the_frame(
    by_rows: bool, preceding: int, stream: list[Event], cuts: set[int], restarts: set[int]
) -> None:
    function = PythonFunction("listed", "aggregate", Listed(), (DataTypes.STRING(),), pandas=True)
    columns = VALUE, InputRef(DataTypes.TIMESTAMP(3), 2, "ts")
    listed = Aggregate(DataTypes.STRING(), "listed", columns, options=(("python", function),))
    params = OverParams(ROWS, (0,), 2, (CALLS[0], listed, *CALLS[1:]), by_rows, preceding)
    result = TableRowType(
        [*RESULT.names[:4], "listed", *RESULT.names[4:]], [*RESULT.types[:4], DataTypes.STRING(), *RESULT.types[4:]]
    )
    operator = TableHarness("table_over", {"over": params}, [(ROWS, (0,))], result)
    found = [values for _, values in run(operator, stream, cuts, restarts)]
    assert [(*row[:4], *row[5:]) for row in found] == reference(stream, by_rows, preceding)
    for row in found:
        rows = [(int(value), int(time)) for value, _, time in (one.partition("@") for one in row[4].split(","))]
        values = [value for value, _ in rows]
        assert (len(values), sum(values), max(values)) == (row[3], *row[5:])
        assert [time for _, time in rows] == sorted(time for _, time in rows)


def test_functions_of_series_need_the_rows_of_the_window_alone() -> None:
    class Largest:
        def open(self, context: Any) -> None: ...

        def close(self) -> None: ...

        def eval(self, values: Any) -> Any:
            return values.max()

    function = PythonFunction("largest", "aggregate", Largest(), (DataTypes.BIGINT(),), pandas=True)
    call = Aggregate(DataTypes.BIGINT(), "largest", (VALUE,), options=(("python", function),))
    params = OverParams(ROWS, (0,), 2, (call,), True, 1, event_time=False)
    result = TableRowType([*ROWS.names, "largest"], [*ROWS.types, DataTypes.BIGINT()])
    operator = TableHarness("table_over", {"over": params}, [(ROWS, (0,))], result)
    for value in (None, 3, 2, 1, None, None):
        operator.rows([("+I", ("a", value, None))])
        operator.restart()
    assert [values[3] for _, values in operator.changes()] == [None, 3, 3, 2, 1, None]


def test_by_the_clock_rows_are_answered_at_once() -> None:
    params = OverParams(ROWS, (0,), 2, CALLS, True, 1, event_time=False)
    operator = TableHarness("table_over", {"over": params}, [(ROWS, (0,))], RESULT)
    operator.rows([("+I", ("a", 1, None)), ("+I", ("b", 5, None)), ("+I", ("a", 2, None)), ("+I", ("a", 3, None))])
    assert [values[3:] for _, values in operator.changes()] == [(1, 1, 1), (1, 5, 5), (2, 3, 2), (2, 5, 3)]


def test_by_the_clock_a_range_waits_for_the_end_of_its_millisecond() -> None:
    params = OverParams(ROWS, (0,), 2, CALLS, False, 10, event_time=False)
    operator = TableHarness("table_over", {"over": params}, [(ROWS, (0,))], RESULT)
    operator.rows([("+I", ("a", 1, None)), ("+I", ("a", 2, None))])
    assert operator.changes() == []
    assert operator.operator.next_processing_time() == 1
    operator.processing_time(1)
    assert [values[3:] for _, values in operator.changes()] == [(2, 3, 2), (2, 3, 2)]


@given(stream=events, cuts=st.sets(st.integers(1, 30)), restarts=st.sets(st.integers(1, 30)))
@settings(max_examples=25, deadline=None)
def test_order_by_time_and_another_column(stream: list[Event], cuts: set[int], restarts: set[int]) -> None:
    params = TemporalSortParams(ROWS, 2, (SortKey(VALUE, ascending=False, nulls_first=False),))
    operator = TableHarness("table_temporal_sort", {"sort": params}, [(ROWS, ())], ROWS)
    found = [values for _, values in run(operator, stream, cuts, restarts)]
    watermark, left, waiting, expected = -(1 << 60), -(1 << 60), [], []
    for event in [*stream, 1 << 60]:
        if not isinstance(event, int):
            if event[2] > left:
                waiting.append(event)
            continue
        if event <= watermark:
            continue
        watermark = event
        due = sorted((one for one in waiting if one[2] <= watermark), key=lambda one: (one[2], -one[1]))
        waiting = [one for one in waiting if one[2] > watermark]
        expected += [(key, value, at(time)) for key, value, time in due]
        left = due[-1][2] if due else left
    assert found == expected
