"""Watermarks of tables: those that matter for the rows that follow stand exactly where Flink's assigner puts them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from penstock.columns.kernels.datum import Session
from penstock.columns.typed.nodes import InputRef, Typed
from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.errors import JobExecutionError
from penstock.common.types import Row
from penstock.runtime.batch import Batch
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.watermarks import WatermarkParams
from penstock.table.logical.nodes import Field, Relation
from penstock.table.logical.scope import RelationScope, single
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.dialect import parse_expression
from penstock.testing.harness import OperatorHarness

TYPE = TableRowType(["ts"], [DataTypes.TIMESTAMP(3)])
CODEC = TableCodec(TYPE)
INTERVAL = 200


def expression(text: str) -> Typed:
    relation = Relation((Field("ts", DataTypes.TIMESTAMP(3)),))
    return Resolver(RelationScope(single(relation), None, "WATERMARK")).resolve(parse_expression(text))


def harness(text: str = "ts - INTERVAL '1' SECOND", idle: int = 0) -> tuple[OperatorHarness, list[Any]]:
    params = WatermarkParams(TYPE, 0, expression(text), Session(), INTERVAL, idle)
    made = OperatorHarness("table_watermarks", None, {"watermark": params}, output_type=TYPE)
    elements: list[Any] = []
    made.output.emit = lambda batch: elements.extend(("row", value) for value in _millis(batch))  # type: ignore
    made.output.emit_watermark = lambda timestamp: elements.append(("mark", timestamp))  # type: ignore
    made.output.emit_idleness = lambda idle: elements.append(("idle", idle))  # type: ignore
    made.operator.connect(made.output, {})
    return made, elements


def _millis(batch: Batch) -> list[int]:
    return list(CODEC.arrays(batch)[0].cast("int64").to_pylist())


def batch_of(times: list[int]) -> Batch:
    import pyarrow as pa

    return CODEC.batch([pa.array(times).cast(pa.timestamp("ms"))])


def flink(times: list[int], delay: int) -> list[tuple[str, int]]:
    """Record by record, as WatermarkAssignerOperator does it."""
    found: list[tuple[str, int]] = []
    current = last = 0
    for time in times:
        current = max(current, time - delay)
        found.append(("row", time))
        if current - last > INTERVAL:
            last = current
            found.append(("mark", current))
    return found


def lateness(elements: list[tuple[str, int]]) -> list[tuple[int, bool]]:
    """Of each row whether a watermark before it has passed it: all that operators downstream can tell."""
    mark, found = -(1 << 62), []
    for kind, value in elements:
        if kind == "mark":
            assert value > mark
            mark = value
        else:
            found.append((value, value <= mark))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_late_exactly_where_flink_says_so_for_any_cut(seed: int) -> None:
    random.seed(seed)
    clock, times = 10_000, []
    for _ in range(300):
        clock += random.choice([0, 1, 50, 300, 900])
        times.append(clock - random.choice([0, 0, 0, 500, 1_500, 4_000]))
    made, elements = harness()
    start = 0
    while start < len(times):
        size = random.choice([1, 2, 7, 50])
        made.operator.process(batch_of(times[start : start + size]), 0)
        start += size
        if random.random() < 0.1:
            made.restart()
            made.operator.connect(made.output, {})
    expected = flink(times, 1_000)
    assert lateness(elements) == lateness(expected)
    assert max(v for k, v in elements if k == "mark") == max(v for k, v in expected if k == "mark")


def test_in_order_rows_are_not_cut_apart() -> None:
    made, elements = harness()
    made.operator.process(batch_of([*range(0, 100_000, 1_000), 99_001]), 0)
    assert [kind for kind, _ in elements] == ["row"] * 101 + ["mark"]
    assert elements[-1] == ("mark", 98_000)


def test_a_row_at_the_end_of_a_session_comes_after_the_watermark_that_closes_it() -> None:
    made, elements = harness("ts - INTERVAL '0.001' SECOND")
    made.operator.process(batch_of([5_000, 5_000, 9_000]), 0)
    assert elements == [("row", 5_000), ("mark", 4_999), ("row", 5_000), ("row", 9_000), ("mark", 8_999)]


def test_the_last_watermark_is_told_when_nothing_follows() -> None:
    made, elements = harness("ts")
    made.operator.process(batch_of([5_000, 5_100]), 0)
    assert elements[-1] == ("mark", 5_000)
    assert made.operator.next_processing_time() == INTERVAL
    made.processing_time(INTERVAL)
    assert elements[-1] == ("mark", 5_100)
    assert made.operator.next_processing_time() is None


def test_a_table_without_rows_becomes_idle() -> None:
    made, elements = harness("ts", idle=1_000)
    made.operator.process(batch_of([5_000]), 0)
    made.processing_time(1_000)
    assert elements[-1] == ("idle", True)
    made.operator.process(batch_of([5_001]), 0)
    assert ("idle", False) in elements


def test_null_is_no_time_and_other_watermarks_are_replaced() -> None:
    made, elements = harness()
    made.operator.process_watermark(77)
    assert elements == []
    made.end_of_input()
    assert elements == [("mark", (1 << 63) - 1)]
    with pytest.raises(JobExecutionError, match="NULL in its rowtime column 'ts'"):
        made.operator.process(Batch([Row(None)]), 0)


def test_the_expression_may_be_null() -> None:
    made, elements = harness("NULLIF(ts, TIMESTAMP '1970-01-01 00:00:09')")
    made.operator.process(batch_of([8_000, 9_000]), 0)
    assert [element for element in elements if element[0] == "mark"] == [("mark", 8_000)]
    assert isinstance(expression("ts"), InputRef)
