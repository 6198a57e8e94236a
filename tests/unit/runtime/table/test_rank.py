"""Top-N: after every record the changelog gives the first rows of each partition, and cuts do not change it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.unit.runtime.table.changelogs import Change, TableHarness, random_changelog, row_type, table_of

from penstock.columns.typed.nodes import InputRef, SortKey
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.rank import RankParams, Strategy

TYPES = [DataTypes.INT(), DataTypes.INT(), DataTypes.STRING()]
DOWN = (SortKey(InputRef(TYPES[1], 1, "c1"), False, False),)
UP_THEN_TEXT = (SortKey(InputRef(TYPES[1], 1, "c1"), True, True), SortKey(InputRef(TYPES[2], 2, "c2"), False, False))


def harness(strategy: Strategy, order: Any, start: int, end: int, numbered: bool, **more: Any) -> TableHarness:
    params = RankParams(row_type(TYPES), order, strategy, start, end, numbered, **more)
    output = [*TYPES, DataTypes.BIGINT(False)] if numbered else TYPES
    return TableHarness("table_rank", {"rank": params}, [TYPES], [(0,)], output)


def make_row(rng: random.Random) -> tuple[Any, ...]:
    number = None if rng.random() < 0.1 else rng.randrange(12)
    return rng.randrange(3), number, rng.choice("abcdefgh")


def sort_key(order: Any, row: tuple[Any, ...]) -> tuple[Any, ...]:
    number = row[1]
    if order is DOWN:
        return ((1, 0) if number is None else (0, -number),)
    return ((0, 0) if number is None else (1, number), -ord(row[2]))


def first_rows(rows: list[Any], order: Any, start: int, end: int, numbered: bool) -> dict[Any, int]:
    found: list[Change] = []
    for key in {row[0] for row in rows}:
        ordered = sorted((row for row in rows if row[0] == key), key=lambda row: sort_key(order, row))
        for rank, row in enumerate(ordered, 1):
            if start <= rank <= end:
                found.append(("+I", (*row, rank) if numbered else row))
    return table_of(found)


def apply(table: dict[Any, int], changes: list[Change]) -> None:
    for kind, row in changes:
        if kind in ("+I", "+U"):
            table[row] = table.get(row, 0) + 1
        else:
            assert table.get(row, 0) > 0, f"{row} is taken back but is not there"
            table[row] -= 1
            if not table[row]:
                del table[row]


@pytest.mark.parametrize("order", [DOWN, UP_THEN_TEXT])
@pytest.mark.parametrize(("start", "end"), [(1, 3), (2, 3), (1, 1)])
@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("strategy", [Strategy.APPEND, Strategy.RETRACT])
def test_first_rows_after_every_record(strategy: Strategy, numbered: bool, start: int, end: int, order: Any) -> None:
    rng = random.Random(f"{strategy}{numbered}{start}{end}")
    changes = random_changelog(rng, 150, make_row, strategy is Strategy.RETRACT)
    single, cut = (harness(strategy, order, start, end, numbered) for _ in range(2))
    present: list[Any] = []
    table: dict[Any, int] = {}
    emitted: list[Change] = []
    for kind, row in changes:
        single.push([(kind, row)])
        if kind in ("+I", "+U"):
            present.append(row)
        else:
            present.remove(row)
        found = single.take()
        emitted += found
        apply(table, found)
        assert table == first_rows(present, order, start, end, numbered)
    cut.push_cut(changes, rng)
    assert cut.take() == emitted


@pytest.mark.parametrize("numbered", [False, True])
def test_updates_of_rows_that_only_become_better(numbered: bool) -> None:
    rng = random.Random(5)
    counts: dict[tuple[int, str], int] = {}
    changes: list[Change] = []
    for _ in range(300):
        key = (rng.randrange(2), rng.choice("abcdefgh"))
        counts[key] = counts.get(key, 0) + rng.choice((0, 1, 1))
        changes.append(("+I", (key[0], counts[key], key[1])))
    settings = {"row_key": (0, 2)}
    single, cut = (harness(Strategy.UPDATE, DOWN, 1, 3, numbered, **settings) for _ in range(2))
    current: dict[Any, Any] = {}
    table: dict[Any, int] = {}
    emitted: list[Change] = []
    for change in changes:
        single.push([change])
        row = change[1]
        current[(row[0], row[2])] = row
        found = single.take()
        emitted += found
        apply(table, found)
        best = first_rows(list(current.values()), DOWN, 1, 3, numbered)
        # Which of equal rows are among the first depends on when they came.
        shown = lambda rows: sorted((row[0], row[1], *row[3:]) for row in rows)  # noqa: E731
        assert shown(table) == shown(best)
    cut.push_cut(changes, rng)
    assert cut.take() == emitted


def test_changes_look_as_in_flink() -> None:
    rows: list[Change] = [("+I", (1, number, text)) for number, text in ((10, "a"), (31, "c"), (5, "a"), (20, "x"))]
    numbered = harness(Strategy.APPEND, DOWN, 1, 2, True)
    numbered.push(rows)
    assert numbered.take() == [
        ("+I", (1, 10, "a", 1)),
        ("-U", (1, 10, "a", 1)), ("+U", (1, 31, "c", 1)), ("+I", (1, 10, "a", 2)),
        ("-U", (1, 10, "a", 2)), ("+U", (1, 20, "x", 2)),
    ]  # fmt: skip
    plain = harness(Strategy.APPEND, DOWN, 1, 2, False)
    plain.push(rows)
    assert plain.take() == [
        ("+I", (1, 10, "a")), ("+I", (1, 31, "c")), ("-D", (1, 10, "a")), ("+I", (1, 20, "x")),
    ]  # fmt: skip
    one = harness(Strategy.APPEND, DOWN, 1, 1, False)
    one.push(rows)
    assert one.take() == [("+I", (1, 10, "a")), ("-U", (1, 10, "a")), ("+U", (1, 31, "c"))]


def test_rows_are_forgotten_after_their_time() -> None:
    table = harness(Strategy.APPEND, DOWN, 1, 2, True, ttl=1_000)
    table.push([("+I", (1, 5, "a"))])
    table.harness.processing_time(2_000)
    table.push([("+I", (1, 3, "b"))])
    assert table.take() == [("+I", (1, 5, "a", 1)), ("+I", (1, 3, "b", 1))]
