"""Kernels over columns: filters and computed fields, with timestamps and row kinds staying with their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.common.types import Row, RowKind
from penstock.datastream.projection import Projection
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.testing.harness import OperatorHarness

NAMED = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.LONG()])
DOUBLED = Types.ROW_NAMED(["amount", "twice"], [Types.LONG(), Types.LONG()])
TRIPLE = Types.TUPLE([Types.STRING(), Types.LONG(), Types.DOUBLE()])


def more_than_one(columns: pa.RecordBatch) -> Any:
    return pc.greater(columns.column(1), 1)


def doubled(columns: pa.RecordBatch) -> pa.RecordBatch:
    amount = columns.column(1)
    return pa.RecordBatch.from_arrays([amount, pc.multiply(amount, 2)], ["amount", "twice"])


def calc(*kernels: Any, output_type: Any = NAMED) -> tuple[OperatorHarness, list[Batch]]:
    harness = OperatorHarness("calc", kernels, {"input_type": NAMED}, output_type=output_type)
    emitted: list[Batch] = []
    harness.output.emit = emitted.append  # type: ignore[method-assign]
    return harness, emitted


def in_columns(rows: list[Row | None], kinds: Any = None) -> Batch:
    codec = codec_for(NAMED)
    assert codec is not None
    return Batch.of_columns(codec, codec.encode(rows), np.arange(len(rows)), kinds=kinds)


ROWS: list[Row | None] = [Row(name="a", amount=1), Row(name="b", amount=None), Row(name="c", amount=3)]


def test_a_mask_keeps_what_is_true_and_fields_are_replaced() -> None:
    harness, emitted = calc(more_than_one, doubled, output_type=DOUBLED)
    harness.operator.process(in_columns(ROWS), 0)
    [batch] = emitted
    assert batch._values is None and batch.timestamps == [2]
    assert batch.values == [Row(amount=3, twice=6)]


def test_records_that_are_rows_become_columns() -> None:
    harness, emitted = calc(more_than_one)
    harness.operator.process(Batch([Row("a", 2), Row(name="b", amount=1)], [7, 8]), 0)
    assert [(batch.values, batch.timestamps) for batch in emitted] == [([Row(name="a", amount=2)], [7])]


def test_kinds_stay_with_their_rows() -> None:
    harness, emitted = calc(more_than_one, doubled, output_type=DOUBLED)
    kinds = np.array([RowKind.DELETE.value, RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value], np.int8)
    harness.operator.process(in_columns(ROWS, kinds), 0)
    [row] = emitted[0].values
    assert row.get_row_kind() is RowKind.UPDATE_BEFORE and tuple(row) == (3, 6)


def test_nothing_is_emitted_when_nothing_is_left() -> None:
    harness, emitted = calc(more_than_one)
    harness.operator.process(in_columns(ROWS[:2]), 0)
    assert emitted == []


def test_a_record_that_is_none_and_wrong_columns_are_refused() -> None:
    harness, _ = calc(more_than_one)
    with pytest.raises(ProgramError, match="never None"):
        harness.operator.process(in_columns([*ROWS, None]), 0)
    harness, _ = calc(doubled)
    with pytest.raises(TypeError, match="kernels gave columns"):
        harness.operator.process(in_columns(ROWS), 0)


@pytest.mark.parametrize("rows", [False, True])
def test_a_projection_picks_columns_of_columns_and_fields_of_rows(rows: bool) -> None:
    projection, codec = Projection((2, 0), TRIPLE), codec_for(TRIPLE)
    assert codec is not None
    batch = Batch([("a", 1, 0.5), ("b", 2, 1.5)], [3, 4])
    harness = OperatorHarness("map", projection, output_type=projection.output_type)
    emitted: list[Batch] = []
    harness.output.emit = emitted.append  # type: ignore[method-assign]
    harness.operator.process(batch if rows else batch.in_columns(codec), 0)
    [result] = emitted
    assert (result.columns is None) == rows
    assert (result.values, result.timestamps) == ([(0.5, "a"), (1.5, "b")], [3, 4])
