"""Parquet files are written by the file sink's writer and read by the file source."""

from __future__ import annotations

import pickle
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from penstock.common.configuration import Configuration
from penstock.common.errors import JobExecutionError, NotSupportedError
from penstock.common.time import Instant
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.connectors.file_system import FileSource
from penstock.datastream.formats.orc import OrcBulkWriters
from penstock.datastream.formats.parquet import (
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.formats.row_types import type_info_of
from penstock.runtime.batch import Batch


def read(path: Path, row_type: Any, parallelism: int = 1, **settings: Any) -> list[Any]:
    file_format = ParquetColumnarRowInputFormat(row_type, **settings)
    source = FileSource.for_bulk_file_format(file_format, str(path)).build()._planner()
    start = source.initial_position(parallelism)
    assignments = source.assignments(start, source.advance(start, 10**9), parallelism)
    reader = pickle.loads(pickle.dumps(source.reader()))
    return [
        value
        for assignment in assignments.values()
        for batch in reader.read(assignment.work or [])
        for value in batch.values
    ]


def write(path: Path, row_type: Any, rows: list[Any], utc: bool = False) -> None:
    with open(path, "wb", buffering=0) as stream:
        factory = pickle.loads(pickle.dumps(ParquetBulkWriters.for_row_type(row_type, utc_timestamp=utc)))
        writer = factory.create(stream)
        writer.add_elements(rows)
        writer.finish()


def test_all_types_there_and_back(tmp_path: Path) -> None:
    inner = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
    fields: dict[str, tuple[Any, Any]] = {
        "a": (Types.LONG(), 1),
        "b": (Types.STRING(), "ü"),
        "c": (Types.DOUBLE(), 1.5),
        "d": (Types.SQL_DATE(), date(2024, 1, 2)),
        "e": (Types.SQL_TIME(), time(3, 4, 5)),
        "f": (Types.SQL_TIMESTAMP(), datetime(2024, 1, 2, 3, 4, 5, 6)),
        "g": (Types.INSTANT(), Instant(5, 6000)),
        "h": (Types.BIG_DEC(), Decimal("1.5")),
        "i": (Types.OBJECT_ARRAY(Types.INT()), [1, 2]),
        "j": (Types.MAP(Types.STRING(), inner), {"k": Row(x=1, y="z")}),
        "k": (inner, Row(x=2, y=None)),
        "l": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\x01"),
        "m": (Types.BOOLEAN(), True),
        "n": (Types.LIST(inner), [Row(x=2, y="q")]),
    }
    row_type = Types.ROW_NAMED(list(fields), [entry[0] for entry in fields.values()])
    full, empty = Row(**{name: entry[1] for name, entry in fields.items()}), Row(**dict.fromkeys(fields))
    write(tmp_path / "a.parquet", row_type, [full, empty])
    assert read(tmp_path, row_type) == [full, empty]


class BigIntType: ...


class VarCharType: ...


class RowType:
    """Stands for DataTypes.ROW([...]) of the Table API."""

    def field_names(self) -> list[str]:
        return ["a", "b"]

    def field_types(self) -> list[Any]:
        return [BigIntType(), VarCharType()]


def test_row_types_of_the_table_api(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", RowType(), [(1, "x")])
    assert read(tmp_path, RowType()) == [Row(a=1, b="x")]


def test_row_groups_are_shared_by_the_subtasks(tmp_path: Path) -> None:
    table = pyarrow.table({"a": list(range(100))})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    row_type = Types.ROW_NAMED(["a"], [Types.LONG()])
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(row_type), str(tmp_path)).build()
    runtime = source._planner()
    start = runtime.initial_position(2)
    half = runtime.advance(start, 45)
    assert [len(runtime.assignments(start, half, 2)[i].work) for i in (0, 1)] == [3, 2]
    assert sorted(row.a for row in read(tmp_path, row_type, parallelism=2)) == list(range(100))
    assert [row.a for row in read(tmp_path, row_type, batch_size=7)] == list(range(100))


def test_columns_by_name(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"A": [1], "b": ["x"], "c": [2.0]}), tmp_path / "a.parquet")
    row_type = Types.ROW_NAMED(["b", "a"], [Types.STRING(), Types.INT()])
    assert read(tmp_path, row_type) == [Row(b="x", a=None)]
    assert read(tmp_path, row_type, is_case_sensitive=False) == [Row(b="x", a=1)]


def test_a_column_of_another_type_is_an_error(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"a": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(JobExecutionError, match=r"a\.parquet.*column 'a'"):
        read(tmp_path, Types.ROW_NAMED(["a"], [Types.INT()]))


def test_a_file_that_is_no_parquet_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("text")
    with pytest.raises(JobExecutionError, match="cannot be read as a Parquet file"):
        read(tmp_path, Types.ROW_NAMED(["a"], [Types.INT()]))


def test_only_timestamps_with_a_zone_get_one(tmp_path: Path) -> None:
    """As in Flink: TIMESTAMP is a time on a wall clock, TIMESTAMP_LTZ a moment."""

    class LocalZonedTimestampType:
        """Stands for DataTypes.TIMESTAMP_LTZ(3)."""

    row_type = Types.ROW_NAMED(["t", "ltz"], [Types.SQL_TIMESTAMP(), type_info_of(LocalZonedTimestampType())])
    row = Row(datetime(2024, 1, 2), Instant(5, 0))
    write(tmp_path / "a.parquet", row_type, [row], utc=True)
    schema = pyarrow.parquet.read_schema(tmp_path / "a.parquet")
    assert (schema.field("t").type.tz, schema.field("ltz").type.tz) == (None, "UTC")
    assert read(tmp_path, row_type, is_utc_timestamp=True) == [Row(t=datetime(2024, 1, 2), ltz=Instant(5, 0))]


def test_decimals_have_the_declared_digits(tmp_path: Path) -> None:
    class DecimalType:
        """Stands for DataTypes.DECIMAL(5, 2)."""

        precision, scale = 5, 2

    row_type = Types.ROW_NAMED(["d"], [type_info_of(DecimalType())])
    write(tmp_path / "a.parquet", row_type, [Row(Decimal("1.005")), Row(Decimal("1234.5")), Row(None)])
    assert pyarrow.parquet.read_schema(tmp_path / "a.parquet").field("d").type == pyarrow.decimal128(5, 2)
    assert read(tmp_path, row_type) == [Row(d=Decimal("1.01")), Row(d=None), Row(d=None)]


def test_what_is_refused() -> None:
    row_type = Types.ROW_NAMED(["a"], [Types.LONG()])
    with pytest.raises(NotSupportedError, match="Hadoop"):
        ParquetBulkWriters.for_row_type(row_type, hadoop_config=object())
    with pytest.raises(NotSupportedError, match="Hadoop"):
        ParquetBulkWriters.for_row_type(row_type, hadoop_config=Configuration().set_string("fs.s3a.access.key", "k"))
    with pytest.raises(NotSupportedError, match="no form"):
        ParquetBulkWriters.for_row_type(Types.ROW_NAMED(["a"], [Types.PICKLED_BYTE_ARRAY()]))


def test_an_empty_configuration_of_hadoop_says_nothing() -> None:
    row_type = Types.ROW_NAMED(["a"], [Types.LONG()])
    ParquetBulkWriters.for_row_type(row_type, Configuration(), True)
    OrcBulkWriters.for_row_type(row_type, None, Configuration())


def read_batches(path: Path, row_type: Any) -> list[Any]:
    file_format = ParquetColumnarRowInputFormat(row_type)._file_format(True)
    return list(file_format.read(str(path), 0, file_format.extent(str(path), 1), 1))


def test_plain_types_are_read_as_columns(tmp_path: Path) -> None:
    types = [Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.FLOAT(), Types.BOOLEAN(), Types.SQL_DATE()]
    types += [Types.SQL_TIMESTAMP(), Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.SHORT()]
    row_type = Types.ROW_NAMED([f"c{position}" for position in range(len(types))], types)
    values = [1, "ü", 1.5, 0.25, True, date(2024, 1, 2), datetime(2024, 1, 2, 3, 4, 5, 6000), b"x", -7]
    rows = [Row(*values), Row(*[None] * len(types))]
    write(tmp_path / "f.parquet", row_type, rows)
    [batch] = read_batches(tmp_path / "f.parquet", row_type)
    assert isinstance(batch, Batch) and batch._values is None
    assert [tuple(row) for row in batch.values] == [tuple(row) for row in rows]
    assert batch.values[0].c1 == "ü"


def test_moments_finer_than_their_type_are_read_as_rows(tmp_path: Path) -> None:
    row_type = Types.ROW_NAMED(["c"], [Types.SQL_TIMESTAMP()])
    write(tmp_path / "f.parquet", row_type, [Row(datetime(2024, 1, 2, 3, 4, 5, 6))])
    assert read_batches(tmp_path / "f.parquet", row_type) == [[Row(c=datetime(2024, 1, 2, 3, 4, 5, 6))]]
