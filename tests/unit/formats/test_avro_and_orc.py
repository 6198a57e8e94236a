"""Avro and ORC: what is written is read again, by any number of readers, and is what others read."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.orc
import pyarrow.parquet
import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Configuration, Row, Types, WatermarkStrategy
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream import DataStream
from penstock.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from penstock.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaders,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from penstock.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from penstock.datastream.formats.parquet import AvroParquetReaders, AvroParquetWriters

SCHEMA = AvroSchema.parse_string(
    json.dumps(
        {
            "type": "record",
            "name": "Order",
            "fields": [
                {"name": "id", "type": "long"},
                {"name": "item", "type": ["null", "string"]},
                {"name": "tags", "type": {"type": "array", "items": "string"}},
                {"name": "counts", "type": {"type": "map", "values": "int"}},
                {
                    "name": "place",
                    "type": {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "int"}]},
                },
                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            ],
        }
    )
)
MOMENT = datetime.datetime(2026, 11, 16, 12, 30, tzinfo=datetime.UTC)


def orders(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "item": None if number % 3 == 0 else f"item {number}",
            "tags": ["a"] * (number % 4),
            "counts": {"n": number},
            "place": {"x": -number},
            "at": MOMENT,
        }
        for number in range(count)
    ]


def write(stream: DataStream, factory: Any, directory: Path) -> None:
    builder = FileSink.for_bulk_format(str(directory), factory)
    stream.sink_to(builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    stream._env.execute()


def visible(directory: Path) -> list[Path]:
    return sorted(path for path in directory.iterdir() if not path.name.startswith("."))


def read(env: Any, file_format: Any, directory: Path) -> list[Any]:
    source = FileSource.for_record_stream_format(file_format, str(directory)).build()
    with env.from_source(source, WatermarkStrategy.no_watermarks(), "files").execute_and_collect() as results:
        return list(results)


def test_generic_records_through_avro_files(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env(1, epoch_records=40)
    stream = env.from_collection(orders(100), Types.PICKLED_BYTE_ARRAY())
    typed = stream.map(lambda record: record, GenericRecordAvroTypeInfo(SCHEMA))
    write(typed, AvroBulkWriters.for_generic_record(SCHEMA), tmp_path)
    found = [record for path in visible(tmp_path) for record in fastavro.reader(path.open("rb"))]
    assert sorted(found, key=lambda record: record["id"]) == orders(100)
    with local_env(2).create_input(AvroInputFormat(str(tmp_path), SCHEMA)).execute_and_collect() as results:
        assert sorted(results, key=lambda record: record["id"]) == orders(100)


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_a_large_avro_file_is_split_between_subtasks(local_env: EnvironmentFactory, tmp_path: Path, codec: str) -> None:
    with (tmp_path / "large.avro").open("wb") as file:
        fastavro.writer(file, SCHEMA.parsed(), orders(3000), codec=codec, sync_interval=2000)
    env = local_env(3, epoch_records=170, forget=True)
    rows = read(env, AvroReaders.for_rows(SCHEMA), tmp_path)
    assert sorted(row.id for row in rows) == list(range(3000))
    row = next(row for row in rows if row.id == 7)
    place = Row(x=-7)
    assert row == Row(id=7, item="item 7", tags=["a"] * 3, counts={"n": 7}, place=place, at=MOMENT.replace(tzinfo=None))


def test_what_is_no_avro_file_is_named(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    (tmp_path / "x.avro").write_bytes(b"no avro at all")
    with pytest.raises(Exception, match=r"x.avro' cannot be read as an Avro file"):
        read(local_env(), AvroReaders.for_generic_record(SCHEMA), tmp_path)


def test_rows_as_avro_messages() -> None:
    row = Row(id=1, item=None, tags=["a", "b"], counts={"n": 2}, place=Row(x=3), at=MOMENT.replace(tzinfo=None))
    message = AvroRowSerializationSchema(avro_schema_string=str(SCHEMA)).serialize(row)
    schema = AvroRowDeserializationSchema(avro_schema_string=str(SCHEMA))
    assert schema.deserialize(message) == row
    assert schema.get_produced_type().get_field_names() == ["id", "item", "tags", "counts", "place", "at"]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="Failed to deserialize Avro"):
        schema.deserialize(message[:3])
    with pytest.raises(NotSupportedError, match="is a Java class"):
        AvroRowDeserializationSchema("org.example.Order")


def test_what_is_no_schema_or_has_no_row_type_is_refused() -> None:
    with pytest.raises(ProgramError, match="no Avro schema"):
        AvroSchema.parse_string('{"type": "recrd"}')
    union = '{"type": "record", "name": "R", "fields": [{"name": "u", "type": ["int", "string"]}]}'
    with pytest.raises(NotSupportedError, match="generic records"):
        AvroReaders.for_rows(AvroSchema.parse_string(union))


def test_generic_records_through_parquet(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    stream = local_env().from_collection(orders(50), Types.PICKLED_BYTE_ARRAY())
    write(stream, AvroParquetWriters.for_generic_record(SCHEMA), tmp_path)
    assert pyarrow.parquet.read_table(visible(tmp_path)[0]).num_rows == 50
    records = read(local_env(), AvroParquetReaders.for_generic_record(SCHEMA), tmp_path)
    assert records == [{**order, "at": MOMENT.replace(tzinfo=None)} for order in orders(50)]


ROW_TYPE = Types.ROW_NAMED(
    ["id", "price", "day", "moment", "name", "tags"],
    [
        Types.LONG(),
        Types.BIG_DEC(),
        Types.SQL_DATE(),
        Types.SQL_TIMESTAMP(),
        Types.STRING(),
        Types.OBJECT_ARRAY(Types.STRING()),
    ],
)


def orc_rows(count: int) -> list[Row]:
    day, moment = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5, 6000)
    return [
        Row(id=n, price=Decimal(n) / 4, day=day, moment=moment, name=None if n % 5 == 0 else f"n{n}", tags=["x"])
        for n in range(count)
    ]


@pytest.mark.parametrize("compression", ["ZLIB", "NONE"])
def test_rows_through_orc(local_env: EnvironmentFactory, tmp_path: Path, compression: str) -> None:
    properties = Configuration()
    properties.set_string("orc.compress", compression)
    stream = local_env().from_collection(orc_rows(200), ROW_TYPE)
    write(stream, OrcBulkWriters.for_row_type(ROW_TYPE, properties), tmp_path)
    table = pyarrow.orc.ORCFile(visible(tmp_path)[0])
    assert table.compression == {"ZLIB": "ZLIB", "NONE": "UNCOMPRESSED"}[compression] and table.nrows == 200
    source = FileSource.for_bulk_file_format(OrcColumnarRowInputFormat(ROW_TYPE), str(tmp_path)).build()
    stream = local_env(2, 60).from_source(source, WatermarkStrategy.no_watermarks(), "orc")
    with stream.execute_and_collect() as results:
        assert sorted(results, key=lambda row: row.id) == orc_rows(200)


def test_orc_refuses_what_it_cannot_write() -> None:
    with pytest.raises(NotSupportedError, match="times of day"):
        OrcBulkWriters.for_row_type(Types.ROW_NAMED(["t"], [Types.SQL_TIME()]))
    properties = Configuration()
    properties.set_string("orc.bloom.filter.fpp", "0.1")
    with pytest.raises(NotSupportedError, match=r"known are orc.compress"):
        OrcBulkWriters.for_row_type(ROW_TYPE, properties)
