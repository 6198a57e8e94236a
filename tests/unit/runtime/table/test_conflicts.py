"""ON CONFLICT at sinks, and how long the rows of a primary key are kept."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.runtime.table.table_harness import Change, TableHarness

from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.errors import JobExecutionError
from penstock.runtime.table.conflicts import ConflictParams
from penstock.runtime.table.materialize import MaterializeParams
from penstock.runtime.table.row_type import TableRowType

ROWS = TableRowType(["id", "k"], [DataTypes.INT(), DataTypes.STRING()])


def conflicts(fails: bool, identity: tuple[int, ...] | None = (0,)) -> TableHarness:
    params = ConflictParams(ROWS, (1,), identity, fails)
    return TableHarness("table_conflicts", {"conflicts": params}, [(ROWS, (1,))], ROWS)


def after(operator: TableHarness, watermark: int, *changes: Change) -> list[Change]:
    operator.rows(changes)
    assert operator.changes() == []
    operator.restart(full=watermark % 2 == 0)
    operator.watermark(watermark)
    return operator.changes()


@pytest.mark.parametrize("fails", [True, False])
def test_a_row_may_take_the_place_of_another_one(fails: bool) -> None:
    sink = conflicts(fails)
    assert after(sink, 1, ("+I", (1, "a"))) == [("+I", (1, "a"))]
    # The new row comes before the old one is taken back: no conflict, as no watermark is between.
    assert after(sink, 2, ("+I", (2, "a")), ("-D", (1, "a"))) == [("+U", (2, "a"))]
    assert after(sink, 3, ("-U", (2, "a")), ("+U", (2, "b"))) == [("-D", (2, "a")), ("+I", (2, "b"))]
    assert after(sink, 4, ("-D", (2, "b"))) == [("-D", (2, "b"))]
    assert after(sink, 5, ("-D", (9, "z"))) == []


def test_the_first_row_counts() -> None:
    sink = conflicts(fails=False)
    assert after(sink, 1, ("+I", (1, "a")), ("+I", (2, "a"))) == [("+I", (1, "a"))]
    assert after(sink, 2, ("+I", (3, "a"))) == []
    assert after(sink, 3, ("-D", (1, "a"))) == [("-D", (1, "a"))]


def test_rows_without_a_key_of_their_own_are_told_apart_by_all_columns() -> None:
    sink = conflicts(fails=False, identity=None)
    assert after(sink, 1, ("+I", (1, "a")), ("+I", (1, "a")), ("-D", (1, "a"))) == [("+I", (1, "a"))]


def test_a_conflict_is_a_failure_that_names_the_key() -> None:
    sink = conflicts(fails=True)
    sink.rows([("+I", (1, "a")), ("+I", (2, "a"))])
    with pytest.raises(JobExecutionError, match="2 rows of the query have the primary key .k='a'."):
        sink.watermark(1)


def test_rows_of_a_primary_key_are_forgotten_after_their_time_to_live() -> None:
    params = MaterializeParams(ROWS, ttl=100)
    sink: Any = TableHarness("table_materialize", {"materialize": params}, [(ROWS, (1,))], ROWS)
    sink.rows([("+I", (1, "a"))])
    sink.processing_time(99)
    sink.rows([("+I", (2, "a"))])
    sink.restart()
    sink.processing_time(150)
    sink.rows([("-D", (2, "a"))])
    assert sink.changes() == [("+I", (1, "a")), ("+U", (2, "a")), ("+U", (1, "a"))]
    sink.processing_time(250)
    sink.rows([("-D", (1, "a")), ("+I", (3, "a"))])
    assert sink.changes() == [("+I", (3, "a"))]
    sink.processing_time(500)
    sink.operator.end_epoch()
    assert list(sink.operator._table.keys()) == []
