"""Rolling sum, min and max give over columns what they give record by record, on random streams."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.common.types import Row, RowKind
from penstock.functions.rolling import Maximum, Minimum, Sum
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.operators import rolling_columns
from penstock.testing.harness import OperatorHarness

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
NAMED = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.SHORT()])
FRACTION = Types.TUPLE([Types.STRING(), Types.DOUBLE()])
FUNCTIONS: dict[str, Any] = {"sum": Sum, "min": Minimum, "max": Maximum}

whole = st.one_of(st.integers(-9, 9), st.sampled_from((2**63 - 1, -(2**63), 2**62)))
short = st.one_of(st.integers(-9, 9), st.sampled_from((32_767, -32_768, 20_000)))
fractions = st.sampled_from((0.0, -0.0, 0.1, 0.2, 0.3, -7.7, 1e16, 1.0, 1e300, float("inf"), float("nan")))
Step = tuple[str, Any]


def streams(numbers: Any) -> Any:
    keys = st.sampled_from(("a", "b", "ü"))
    records = st.lists(st.tuples(keys, numbers), min_size=1, max_size=12)
    return st.lists(
        st.one_of(
            st.tuples(st.just("columns"), records),
            st.tuples(st.just("columns"), records),
            st.tuples(st.just("rows"), records),
            st.tuples(st.just("cut"), st.booleans()),
        ),
        max_size=10,
    )


def run(function: Any, declared: Any, steps: list[Step], columns: bool) -> tuple[list[Any], Any]:
    """The results, and the error at which the stream ended."""
    harness = OperatorHarness("reduce", function, key=lambda value: value[0], output_type=declared)
    codec, number = codec_for(declared), 0
    assert codec is not None
    for kind, content in steps:
        if kind == "cut":
            harness.restart(full=content)
            continue
        make = Row if declared is NAMED else lambda *fields: fields
        values = codec.decode(codec.encode([make(key, amount) for key, amount in content]))
        times = list(range(number, number + len(values)))
        number += len(values)
        batch = Batch(values, times, [key for key, _ in content])
        harness.operator.process(batch.in_columns(codec) if columns and kind == "columns" else batch, 0)
    harness.restart()
    harness.end_of_input()
    table = harness.operator.backend.table_of(harness.operator._descriptor)  # type: ignore[attr-defined]
    keys = list(table.keys())
    return harness.results, sorted((key, table.get(key)) for key in keys)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        st.tuples(streams(whole), st.just(PAIR)),
        st.tuples(streams(short), st.just(NAMED)),
        st.tuples(streams(fractions), st.just(FRACTION)),
    )
)
def test_columns_and_records_agree(name: str, stream: tuple[list[Step], Any]) -> None:
    steps, declared = stream
    function = FUNCTIONS[name](1, declared)
    expected = run(function, declared, steps, columns=False)
    with patch.object(rolling_columns, "_HOT", 3):
        found = run(function, declared, steps, columns=True)
    # repr: it tells -0.0 from 0.0, and every NaN is equal to itself.
    assert repr(found) == repr(expected)


def typed(records: list[tuple[str, int]], declared: Any = PAIR, kinds: Any = None) -> Batch:
    codec = codec_for(declared)
    assert codec is not None
    columns = pa.RecordBatch.from_arrays(
        [pa.array([k for k, _ in records]), pa.array([n for _, n in records], codec.schema.field(1).type)],
        schema=codec.schema,
    )
    return Batch.of_columns(codec, columns, None, pa.array([key for key, _ in records]), kinds)


def test_results_are_columns() -> None:
    harness = OperatorHarness("reduce", Sum(1, PAIR), output_type=PAIR)
    emitted: list[Batch] = []
    harness.output.emit = emitted.append  # type: ignore[method-assign]
    harness.operator.process(typed([("a", 1), ("b", 2)] * 50), 0)
    [batch] = emitted
    assert batch.exact_columns is not None and batch._values is None
    assert batch.values[-2:] == [("a", 50), ("b", 100)]


def test_rows_with_kinds_go_one_by_one() -> None:
    harness = OperatorHarness("reduce", Sum(1, NAMED), output_type=NAMED)
    kinds = np.full(100, RowKind.UPDATE_AFTER.value, np.int8)
    harness.operator.process(typed([("a", 1)] * 100, NAMED, kinds), 0)
    assert {row.get_row_kind() for row in harness.output.values} == {RowKind.UPDATE_AFTER}


def test_a_field_without_value_is_the_same_error_as_record_by_record() -> None:
    harness = OperatorHarness("reduce", Sum(1, PAIR), output_type=PAIR)
    with pytest.raises(TypeError, match="NoneType"):
        harness.operator.process(typed([("a", 1), ("a", None)] * 50), 0)  # type: ignore[list-item]
