"""Regular joins against a record-by-record reference, for any cut into batches and any restarts."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtime.table.table_harness import Change, TableHarness, materialized

from penstock.columns.typed.nodes import InputRef, Invoke
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.join import JoinParams, SideParams
from penstock.runtime.table.row_type import TableRowType

SIDE = TableRowType(["id", "k", "v"], [DataTypes.INT(), DataTypes.STRING(), DataTypes.INT()])
BOTH = TableRowType([f"c{i}" for i in range(6)], [*SIDE.types, *SIDE.types])
KINDS = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
LESS = Invoke(DataTypes.BOOLEAN(), "lessThan", (InputRef(DataTypes.INT(), 2, "v"), InputRef(DataTypes.INT(), 5, "v")))

Event = tuple[int, str, tuple[Any, ...]]  # input, kind, row


def harness(
    kind: str, condition: Any = None, identity: Any = (0, 1, 2), unique: bool = False, nulls: bool = False, ttl: int = 0
) -> TableHarness:
    side = SideParams(SIDE, (1,), identity, unique, ttl)
    params = JoinParams(kind, side, side, (nulls,), condition)
    output = SIDE if kind in ("SEMI", "ANTI") else BOTH
    return TableHarness("table_join", {"join": params}, [(SIDE, (1,)), (SIDE, (1,))], output)


class Reference:
    """One record at a time, as Flink describes it."""

    def __init__(self, kind: str, condition: bool, nulls: bool) -> None:
        self._kind, self._condition, self._nulls = kind, condition, nulls
        self._rows: tuple[list[list[Any]], list[list[Any]]] = ([], [])  # [row, matches]
        self.out: list[Change] = []

    def _meets(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
        if left[1] != right[1] or (left[1] is None and not self._nulls):
            return False
        return not self._condition or (left[2] is not None and right[2] is not None and left[2] < right[2])

    def process(self, side: int, kind: str, row: tuple[Any, ...]) -> None:
        others = [
            entry for entry in self._rows[1 - side] if self._meets(*((row, entry[0]) if side == 0 else (entry[0], row)))
        ]
        adds = kind in ("+I", "+U")
        if adds:
            self._rows[side].append([row, len(others)])
        else:
            places = [place for place, entry in enumerate(self._rows[side]) if entry[0] == row]
            del self._rows[side][places[-1]]
        if self._kind in ("SEMI", "ANTI"):
            self._one_sided(side, kind, row, others, adds)
        else:
            self._joined(side, kind, row, others, adds)

    def _joined(self, side: int, kind: str, row: tuple[Any, ...], others: list[list[Any]], adds: bool) -> None:
        outer = (self._kind in ("LEFT", "FULL"), self._kind in ("RIGHT", "FULL"))
        if any(outer):
            kind = "+I" if adds else "-D"
        nothing = (None, None, None)

        def put(kind: str, own: tuple[Any, ...], other: tuple[Any, ...]) -> None:
            self.out.append((kind, own + other if side == 0 else other + own))

        if not others and outer[side]:
            put(kind, row, nothing)
        for entry in others:
            if adds and outer[1 - side] and entry[1] == 0:
                put("-D", nothing, entry[0])
            put(kind, row, entry[0])
            if not adds and outer[1 - side] and entry[1] == 1:
                put("+I", nothing, entry[0])
            entry[1] += 1 if adds else -1

    def _one_sided(self, side: int, kind: str, row: tuple[Any, ...], others: list[list[Any]], adds: bool) -> None:
        anti = self._kind == "ANTI"
        if side == 0:
            if bool(others) != anti:
                self.out.append((kind, row))
            return
        for entry in others:
            if entry[1] == (0 if adds else 1):
                self.out.append((("-D" if adds else "+I") if anti else kind, entry[0]))
            entry[1] += 1 if adds else -1


@st.composite
def changelogs(draw: Any, inserts_only: bool = False) -> list[Event]:
    """Events of both sides in which only rows that are there are taken back."""
    events: list[Event] = []
    there: tuple[list[Any], list[Any]] = ([], [])
    for number in range(draw(st.integers(0, 24))):
        side = draw(st.integers(0, 1))
        if there[side] and not inserts_only and draw(st.booleans()):
            row = there[side].pop(draw(st.integers(0, len(there[side]) - 1)))
            events.append((side, draw(st.sampled_from(["-D", "-U"])), row))
            continue
        row = (
            draw(st.integers(0, 2)) if not inserts_only else number,
            draw(st.sampled_from(["a", "b", None])),
            draw(st.sampled_from([1, 2, 3, None])),
        )
        there[side].append(row)
        events.append((side, draw(st.sampled_from(["+I", "+U"])) if not inserts_only else "+I", row))
    return events


def run(join: TableHarness, events: list[Event], cuts: set[int], restarts: set[int]) -> list[Change]:
    """Neighbours of one side in one batch, unless there is a cut."""
    start = 0
    for end in range(1, len(events) + 1):
        if end == len(events) or events[end][0] != events[start][0] or end in cuts:
            join.rows([(kind, row) for _, kind, row in events[start:end]], events[start][0])
            start = end
            if end in restarts:
                join.restart(full=end % 2 == 0)
    return join.changes()


@pytest.mark.parametrize("kind", KINDS)
@given(
    events=changelogs(),
    cuts=st.sets(st.integers(1, 24)),
    restarts=st.sets(st.integers(1, 24)),
    condition=st.booleans(),
    nulls=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_changelog_is_that_of_one_record_at_a_time(
    kind: str, events: list[Event], cuts: set[int], restarts: set[int], condition: bool, nulls: bool
) -> None:
    reference = Reference(kind, condition, nulls)
    for event in events:
        reference.process(*event)
    found = run(harness(kind, LESS if condition else None, nulls=nulls), events, cuts, restarts)
    # The order of the rows that one record meets is that of a hash map in Flink: compared are kinds and rows.
    assert sorted(found, key=repr) == sorted(reference.out, key=repr)
    assert materialized(found) == materialized(reference.out)


@given(events=changelogs(inserts_only=True), cuts=st.sets(st.integers(1, 24)), restarts=st.sets(st.integers(1, 24)))
@settings(max_examples=30, deadline=None)
def test_order_of_emission_of_inserts(events: list[Event], cuts: set[int], restarts: set[int]) -> None:
    reference = Reference("FULL", False, False)
    for event in events:
        reference.process(*event)
    assert run(harness("FULL", identity=None), events, cuts, restarts) == reference.out


@pytest.mark.parametrize("kind", ("INNER", "LEFT"))
@given(events=changelogs())
@settings(max_examples=20, deadline=None)
def test_final_table_is_that_of_sqlite(kind: str, events: list[Event]) -> None:
    database = sqlite3.connect(":memory:")
    for side, name in enumerate("lr"):
        database.execute(f"CREATE TABLE {name} (id INT, k TEXT, v INT)")
        rows = [(kind, row) for where, kind, row in events if where == side]
        database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", materialized(rows))
    expected = database.execute(f"SELECT * FROM l {kind} JOIN r ON l.k = r.k AND l.v < r.v").fetchall()
    found = run(harness(kind, LESS), events, set(), set())
    assert materialized(found) == sorted(expected, key=repr)


def test_a_unique_key_keeps_the_last_row() -> None:
    join = harness("INNER", identity=(0,), unique=True)
    join.rows([("+I", (1, "a", 1)), ("+U", (1, "a", 2)), ("+I", (2, "a", 5))])
    join.rows([("+I", (9, "a", 0))], 1)
    assert join.changes() == [("+I", (1, "a", 2, 9, "a", 0)), ("+I", (2, "a", 5, 9, "a", 0))]


def test_updates_of_a_unique_key_are_counted_once() -> None:
    join = harness("RIGHT", identity=(0,), unique=True)
    join.rows([("+I", (9, "a", 0))], 1)
    join.rows([("+I", (1, "a", 1)), ("+U", (1, "a", 2)), ("-D", (1, "a", 2))])
    assert join.changes() == [
        ("+I", (None, None, None, 9, "a", 0)),
        ("-D", (None, None, None, 9, "a", 0)),
        ("+I", (1, "a", 1, 9, "a", 0)),
        ("+I", (1, "a", 2, 9, "a", 0)),
        ("-D", (1, "a", 2, 9, "a", 0)),
        ("+I", (None, None, None, 9, "a", 0)),
    ]


def test_rows_are_forgotten_after_their_time() -> None:
    join = harness("INNER", identity=None, ttl=1000)
    join.rows([("+I", (1, "a", 1))])
    join.processing_time(600)
    join.rows([("+I", (2, "a", 2))])
    join.processing_time(1000)
    join.rows([("+I", (3, "a", 3))], 1)
    assert join.changes() == [("+I", (2, "a", 2, 3, "a", 3))]
    join.restart()
    assert len(join.operator._sides[0].store) == 1  # type: ignore[attr-defined]


def test_state_of_removed_rows_is_given_back() -> None:
    join = harness("INNER")
    for start in range(0, 20_000, 1_000):
        rows = [(number, "a", number) for number in range(start, start + 1_000)]
        join.rows([("+I", row) for row in rows])
        join.rows([("-D", row) for row in rows[1:]])
    store = join.operator._sides[0].store  # type: ignore[attr-defined]
    assert len(store) == 20
    assert store.count < 3_000
    join.restart(full=True)
    join.rows([("+I", (0, "a", 0))], 1)
    assert len(join.changes()) == 20
