"""Windows that count rows, against lists of rows."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runtime.table.table_harness import Change, TableHarness

from penstock.columns.typed.nodes import Aggregate, InputRef
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.row_window import RowWindowParams

ROWS = TableRowType(["k", "v"], [DataTypes.STRING(), DataTypes.INT()])
RESULT = TableRowType(["k", "total", "first"], [DataTypes.STRING(), DataTypes.INT(), DataTypes.INT()])
VALUE = InputRef(DataTypes.INT(), 1, "v")
CALLS = Aggregate(DataTypes.INT(), "sum", (VALUE,)), Aggregate(DataTypes.INT(), "first_value", (VALUE,))


@pytest.mark.parametrize(("size", "slide"), [(1, 1), (3, 3), (3, 2), (5, 1), (2, 5)])
@given(
    stream=st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 9)), max_size=30),
    cut=st.integers(1, 9),
    restarts=st.sets(st.integers(0, 30)),
)
@settings(max_examples=20, deadline=None)
def test_row_windows(size: int, slide: int, stream: list[Any], cut: int, restarts: set[int]) -> None:
    params = RowWindowParams(ROWS, (0,), CALLS, size, slide)
    operator = TableHarness("table_row_window", {"aggregate": params}, [(ROWS, (0,))], RESULT)
    seen: dict[Any, list[int]] = defaultdict(list)
    expected: list[Change] = []
    for key, value in stream:
        rows = seen[key]
        rows.append(value)
        if len(rows) >= size and (len(rows) - size) % slide == 0:
            expected.append(("+I", (key, sum(rows[-size:]), rows[-size])))
    for start in range(0, len(stream), cut):
        operator.rows([("+I", row) for row in stream[start : start + cut]])
        if start in restarts:
            operator.restart(full=start % 2 == 0)
    assert operator.changes() == expected
