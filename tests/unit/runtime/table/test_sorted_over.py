"""OVER by columns that are no times, against one that computes everything again after each row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtime.table.table_harness import Change, TableHarness

from penstock.columns.typed.nodes import Aggregate, Bound, InputRef, OverCall, SortKey
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table import sorted_over
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.sorted_over import SortedOverParams

ROWS = TableRowType(["id", "k", "v"], [DataTypes.INT(), DataTypes.STRING(), DataTypes.INT()])
RESULT = TableRowType([*ROWS.names, "total", "place"], [*ROWS.types, DataTypes.INT(), DataTypes.BIGINT()])

Row = tuple[int, str | None, int | None]


def calls(by_rows: bool, ascending: bool) -> tuple[OverCall, ...]:
    column = InputRef(DataTypes.INT(), 2, "v")
    window: Any = (
        (InputRef(DataTypes.STRING(), 1, "k"),),
        (SortKey(column, ascending, ascending),),  # nulls first where values grow
        by_rows,
        Bound("unbounded"),
        Bound("current"),
    )
    total, place = Aggregate(DataTypes.INT(), "sum", (column,)), Aggregate(DataTypes.BIGINT(), "rank", ())
    return OverCall(DataTypes.INT(), total, *window), OverCall(DataTypes.BIGINT(), place, *window)


def operator(by_rows: bool = False, ascending: bool = True, **params: Any) -> TableHarness:
    made = SortedOverParams(ROWS, (1,), calls(by_rows, ascending), **params)
    return TableHarness("table_sorted_over", {"over": made}, [(ROWS, (1,))], RESULT)


@st.composite
def changelogs(draw: Any) -> list[Change]:
    """Rows that come, some of them equal, and rows that go again."""
    there: list[Row] = []
    found: list[Change] = []
    for number in range(draw(st.integers(0, 20))):
        if there and draw(st.integers(0, 2)) == 0:
            found.append((draw(st.sampled_from(["-D", "-U"])), there.pop(draw(st.integers(0, len(there) - 1)))))
            continue
        row = (
            draw(st.integers(0, number)),
            draw(st.sampled_from(["a", "b", None])),
            draw(st.sampled_from([0, 1, 2, None])),
        )
        there.append(row)
        found.append((draw(st.sampled_from(["+I", "+U"])), row))
    return found


class Naive:
    """The rows of each partition in order of arrival, and what each of them showed last."""

    def __init__(self, by_rows: bool, ascending: bool) -> None:
        self._by_rows, self._ascending = by_rows, ascending
        self._partitions: dict[Any, list[tuple[int, Row]]] = {}
        self._arrivals = 0

    def _rank(self, row: Row) -> float:
        value = float("-inf") if row[2] is None else float(row[2])
        return value if self._ascending else -value

    def _shown(self, partition: list[tuple[int, Row]]) -> dict[int, tuple[Any, ...]]:
        ordered = sorted(partition, key=lambda one: (self._rank(one[1]), one[0]))
        found = {}
        for place, (arrival, row) in enumerate(ordered):
            seen = [
                one
                for at, (_, one) in enumerate(ordered)
                if (at <= place if self._by_rows else self._rank(one) <= self._rank(row))
            ]
            values = [one[2] for one in seen if one[2] is not None]
            rank = 1 + sum(1 for _, one in ordered if self._rank(one) < self._rank(row))
            found[arrival] = (*row, sum(values) if values else None, rank)
        return found

    def change(self, kind: str, row: Row) -> list[Change]:
        partition = self._partitions.setdefault(row[1], [])
        old, before = self._shown(partition), list(partition)
        if kind in ("+I", "+U"):
            partition.append((self._arrivals, row))
            self._arrivals += 1
        else:
            partition.remove(next(one for one in partition if one[1] == row))
        new = self._shown(partition)
        found: list[Change] = []
        both = dict([*before, *partition])
        for arrival, _ in sorted(both.items(), key=lambda one: (self._rank(one[1]), one[0])):
            if arrival not in old:
                found.append((kind, new[arrival]))
            elif arrival not in new:
                found.append(("-D", old[arrival]))
            elif old[arrival] != new[arrival]:
                found += [("-U", old[arrival]), ("+U", new[arrival])]
        return found


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("by_rows", [True, False])
@given(stream=changelogs(), size=st.integers(1, 7), restarts=st.sets(st.integers(1, 20)))
@settings(max_examples=30, deadline=None)
def test_changelogs(by_rows: bool, ascending: bool, stream: list[Change], size: int, restarts: set[int]) -> None:
    naive = Naive(by_rows, ascending)
    expected = [change for kind, row in stream for change in naive.change(kind, row)]  # type: ignore[arg-type]
    over = operator(by_rows, ascending)
    for start in range(0, len(stream), size):
        over.rows(stream[start : start + size])
        if start in restarts:
            over.restart(full=start % 2 == 0)
    assert over.changes() == expected


def test_a_batch_of_many_steps_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_over, "_MANY", 5)
    stream: list[Change] = [("+I", (number, "a", 9 - number)) for number in range(10)]
    naive = Naive(False, True)
    over = operator()
    over.rows(stream)
    assert over.changes() == [change for kind, row in stream for change in naive.change(kind, row)]  # type: ignore[arg-type]


def test_updates_without_the_row_before() -> None:
    over = operator(before=False)
    over.rows([("+I", (1, "a", 5)), ("+I", (2, "a", 3))])
    assert over.changes() == [("+I", (1, "a", 5, 5, 1)), ("+I", (2, "a", 3, 3, 1)), ("+U", (1, "a", 5, 8, 2))]


def test_a_row_that_was_never_there_cannot_go() -> None:
    over = operator()
    over.rows([("-D", (1, "a", 5)), ("+I", (2, "a", 3))])
    assert over.changes() == [("+I", (2, "a", 3, 3, 1))]


def test_partitions_are_forgotten_after_their_time_to_live() -> None:
    over = operator(ttl=100)
    over.rows([("+I", (1, "a", 5))])
    over.processing_time(60)
    over.rows([("+I", (2, "a", 6))])
    over.processing_time(159)
    over.rows([("+I", (3, "a", 7))])
    over.changes()
    over.processing_time(300)
    over.rows([("+I", (4, "a", 1))])
    assert over.changes() == [("+I", (4, "a", 1, 1, 1))]
    over.processing_time(1000)
    over.operator.end_epoch()
    assert not len(over.operator._rows)  # type: ignore[attr-defined]
