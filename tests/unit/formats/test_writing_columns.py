"""Writers give the same files for columns as for the records made of them."""

from __future__ import annotations

import io
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.formats.parquet import ParquetBulkWriters
from penstock.formats.csv import CsvBulkWriters
from penstock.formats.csv_schema import CsvSchema
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch

NAMES = ["text", "number", "fraction", "flag"]
TYPES = [Types.STRING(), Types.LONG(), Types.DOUBLE(), Types.BOOLEAN()]
NAMED = Types.ROW_NAMED(NAMES, TYPES)
SHUFFLED = Types.ROW_NAMED(["flag", *NAMES[:3]], [TYPES[3], *TYPES[:3]])
NAMELESS = Types.TUPLE(TYPES)

texts = st.one_of(st.text(' a"\\,;é-0', max_size=30), st.text(max_size=4))
rows = st.lists(
    st.tuples(
        *(st.one_of(st.none(), each) for each in (texts, st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans()))
    ),
    min_size=1,
    max_size=6,
)


def in_columns(values: list[Any], declared: Any) -> Batch:
    codec = codec_for(declared)
    assert codec is not None
    return Batch.of_columns(codec, codec.encode(values))


def records_of(fields: list[Any], declared: Any) -> list[Any]:
    if declared is NAMELESS:
        return fields
    return [Row(**dict(zip(NAMES, each, strict=True))) for each in fields]


def written(factory: Any, batch: Batch, as_rows: bool) -> bytes:
    stream = io.BytesIO()
    writer = factory.create(stream)
    if as_rows:
        writer.add_elements(batch.values)
    else:
        writer.add_batch(batch)
    writer.finish()
    return stream.getvalue()


@settings(deadline=None)
@given(
    rows,
    st.sampled_from((NAMED, SHUFFLED, NAMELESS)),
    st.sampled_from((";", "\t", ",")),
    st.sampled_from(("\n", "\r\n", "|")),
    st.sampled_from((None, "NULL")),
    st.sampled_from((None, "\\")),
    st.booleans(),
)
def test_csv(
    fields: list[Any], declared: Any, separator: str, line_end: str, null: str | None, escape: str | None, quotes: bool
) -> None:
    builder = CsvSchema.builder().add_string_column("text").add_number_column("number")
    builder = builder.add_number_column("fraction", Types.DOUBLE()).add_boolean_column("flag")
    builder = builder.set_column_separator(separator).set_line_separator(line_end)
    builder = builder if null is None else builder.set_null_value(null)
    builder = builder if escape is None else builder.set_escape_char(escape)
    builder = builder if quotes else builder.disable_quote_char()
    factory = CsvBulkWriters.for_schema(builder.build())
    batch = in_columns(records_of(fields, declared), declared)
    found = written(factory, batch, as_rows=False)
    assert batch._values is None, "no record was made"
    assert found == written(factory, batch, as_rows=True)


def test_a_part_of_a_batch() -> None:
    schema = CsvSchema.builder().add_string_column("text").build()
    batch = in_columns([(f"text {n}",) for n in range(9)], Types.TUPLE([Types.STRING()]))
    assert written(CsvBulkWriters.for_schema(schema), batch.slice(3, 5), False) == b'"text 3"\n"text 4"\n'


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        (Types.ROW_NAMED(["a"], [Types.BIG_DEC()]), [Row(Decimal("1.50"))]),
        (Types.ROW_NAMED(["a"], [Types.LONG()]), [Row(1), None]),
        (Types.LONG(), [1]),
    ],
)
def test_what_has_no_text_in_columns_is_left_to_rows(declared: Any, values: list[Any]) -> None:
    schema = CsvSchema.builder().add_number_column("a", Types.BIG_DEC()).build()
    factory, batch = CsvBulkWriters.for_schema(schema), in_columns(values, declared)
    outcomes = []
    for as_rows in (False, True):
        try:
            outcomes.append(repr(written(factory, batch, as_rows)))
        except Exception as error:
            outcomes.append(repr(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("utc", [False, True])
def test_parquet(utc: bool) -> None:
    types = [Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.SQL_DATE(), Types.SQL_TIMESTAMP()]
    row_type = Types.ROW_NAMED([f"c{position}" for position in range(len(types))], types)
    factory = ParquetBulkWriters.for_row_type(row_type, utc_timestamp=utc)
    values = [Row(1, "ü", 1.5, date(2024, 1, 2), datetime(2024, 1, 2, 3, 4, 5)), Row(*[None] * len(types))]
    batch = in_columns(values, row_type)
    tables = []
    for as_rows in (False, True):
        content = written(factory, batch, as_rows)
        assert (batch._values is None) == (not as_rows)
        tables.append(pyarrow.parquet.read_table(io.BytesIO(content)))
    assert tables[0] == tables[1] and tables[0].schema == tables[1].schema


def test_rows_and_columns_in_one_parquet_file_keep_their_order() -> None:
    row_type = Types.ROW_NAMED(["a", "list"], [Types.LONG(), Types.OBJECT_ARRAY(Types.INT())])
    plain = Types.ROW_NAMED(["a"], [Types.LONG()])
    for declared, more in ((row_type, ([1],)), (plain, ())):
        stream = io.BytesIO()
        writer: Any = ParquetBulkWriters.for_row_type(declared).create(stream)
        for number in range(6):
            if number % 2:
                writer.add_elements([Row(number, *more)])
            else:
                writer.add_batch(in_columns([Row(number, *more)], declared))
        writer.finish()
        assert pyarrow.parquet.read_table(io.BytesIO(stream.getvalue())).column("a").to_pylist() == list(range(6))
