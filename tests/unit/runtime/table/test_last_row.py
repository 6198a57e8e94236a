"""Deduplication and ChangelogNormalize against references that go record by record."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest
from tests.unit.runtime.table.changelogs import Change, TableHarness, row_type

from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.last_row import Keep, KeepParams

TYPES = [DataTypes.STRING(), DataTypes.INT(), DataTypes.TIMESTAMP(3)]
_START = datetime.datetime(2026, 1, 1)


def at(seconds: int) -> datetime.datetime:
    return _START + datetime.timedelta(seconds=seconds)


def harness(kind: str, keep: Keep, **more: Any) -> TableHarness:
    params = KeepParams(row_type(TYPES), keep, time_column=2, **more)
    return TableHarness(kind, {"keep": params}, [TYPES], [(0,)], TYPES)


def rows(rng: random.Random, count: int, kinds: tuple[str, ...] = ("+I",)) -> list[Change]:
    make = lambda: (rng.choice(["a", "b", None]), rng.randrange(3), at(rng.randrange(20)))  # noqa: E731
    return [(rng.choice(kinds), make()) for _ in range(count)]


def reference(changes: list[Change], keep: Keep, before: bool) -> list[Change]:
    kept: dict[Any, Any] = {}
    found: list[Change] = []
    for kind, row in changes:
        old = kept.get(row[0])
        if kind in ("-U", "-D"):
            if old is not None:
                found.append(("-D", old))
                del kept[row[0]]
            continue
        if old is None:
            found.append(("+I", row))
        elif keep is Keep.FIRST or (keep is Keep.LATEST and row[2] < old[2]) or keep is Keep.UPSERT and row == old:
            continue
        else:
            found += [("-U", old)] * before + [("+U", row)]
        kept[row[0]] = row
    return found


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(
    ("kind", "keep", "kinds"),
    [
        ("table_first_row", Keep.FIRST, ("+I",)),
        ("table_last_row", Keep.LAST, ("+I",)),
        ("table_last_row", Keep.LATEST, ("+I",)),
        ("table_last_row", Keep.UPSERT, ("+I", "+U", "-D", "-U")),
    ],
)
def test_changelog_is_that_of_record_by_record(kind: str, keep: Keep, kinds: tuple[str, ...], before: bool) -> None:
    rng = random.Random(f"{keep}{before}")
    for _ in range(5):
        changes = rows(rng, 200, kinds)
        table = harness(kind, keep, before=before)
        table.push_cut(changes, rng)
        assert table.take() == reference(changes, keep, before)


def test_the_earliest_row_comes_with_the_watermark() -> None:
    table = harness("table_earliest_row", Keep.EARLIEST)
    millis = lambda seconds: int(at(seconds).replace(tzinfo=datetime.UTC).timestamp() * 1000)  # noqa: E731
    table.push([("+I", ("b", 1, at(7))), ("+I", ("a", 1, at(5))), ("+I", ("a", 2, at(3))), ("+I", ("a", 3, at(3)))])
    assert table.take() == []
    table.harness.restart()
    table.harness.watermark(millis(2))
    assert table.take() == []
    table.harness.watermark(millis(8))
    assert table.take() == [("+I", ("a", 2, at(3))), ("+I", ("b", 1, at(7)))]
    table.harness.restart()
    table.push([("+I", ("a", 9, at(9))), ("+I", ("c", 1, at(1))), ("+I", ("c", 2, at(12)))])
    table.harness.end_of_input()
    assert table.take() == [("+I", ("c", 2, at(12)))]
