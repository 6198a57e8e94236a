"""Rows of Spark's DataFrames as the records of a stream."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from penstock.common.types import Row
from penstock.engines.spark.frames import to_batch

MOMENT = datetime.datetime(2024, 7, 1, 10, 0, 0, 123456, tzinfo=datetime.UTC)
BERLIN = pa.timestamp("us", "Europe/Berlin")
FILES = pa.timestamp("ns")  # as Spark reads moments from Parquet files


def values(kind: pa.DataType, *given: Any) -> list[Any]:
    batch = pa.RecordBatch.from_arrays([pa.array(given, kind)], names=["c"])
    return [row.c for row in to_batch(batch, None).values]


def test_nested_values_are_rows_and_dictionaries_as_their_declared_type_says() -> None:
    pair = pa.struct([("a", pa.int32()), ("b", pa.map_(pa.string(), pa.decimal128(5, 1)))])
    told = {"a": 1, "b": [("k", Decimal("2.5"))]}
    row = Row(a=1, b={"k": Decimal("2.5")})
    assert values(pair, told, None, {"a": None, "b": None}) == [row, None, Row(a=None, b=None)]
    assert values(pa.list_(pair), [told, None], None) == [[row, None], None]
    assert values(pa.map_(pa.int64(), pair), [(7, told)], None, []) == [{7: row}, None, {}]
    assert values(pa.list_(pa.list_(pa.int64())), [[1, None], None]) == [[[1, None], None]]


def test_moments_are_in_utc_and_without_a_zone_they_are_wall_clocks_at_any_depth() -> None:
    wall = MOMENT.replace(tzinfo=None)
    for kind in (BERLIN, FILES):
        inner = pa.struct([("t", kind)])
        for found in (
            values(kind, MOMENT)[0],
            values(pa.list_(kind), [MOMENT])[0][0],
            values(inner, {"t": MOMENT})[0].t,
            values(pa.map_(pa.string(), inner), [("k", {"t": MOMENT})])[0]["k"].t,
        ):
            assert type(found) is datetime.datetime
            assert found == MOMENT and found.utcoffset() == datetime.timedelta(0)
    assert values(pa.list_(pa.timestamp("us")), [wall])[0] == [wall]


def test_event_time_is_the_moment_of_its_column() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([MOMENT, None], BERLIN)], names=["c"])
    assert to_batch(batch, "c").timestamps[0] == 1719828000123  # type: ignore[index]
