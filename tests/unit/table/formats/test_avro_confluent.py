"""Avro with a schema registry: messages name the schema that they were written with."""

from __future__ import annotations

import datetime
import io
import pickle
import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import fastavro
import numpy as np
import pytest
from tests.unit.table.formats.registry_server import RegistryServer

from penstock.columns.kernels.python_columns import from_python, to_python
from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.table.connectors.base import ConnectorTable
from penstock.table.formats.base import FormatOptions
from penstock.table.formats.registry import FORMATS, format_of
from penstock.table.logical.nodes import Field, Fields

FIELDS: Fields = (
    Field("id", DataTypes.BIGINT(False)),
    Field("name", DataTypes.STRING()),
    Field("price", DataTypes.DECIMAL(10, 2)),
    Field("at", DataTypes.TIMESTAMP(3)),
    Field("day", DataTypes.DATE()),
    Field("tags", DataTypes.ARRAY(DataTypes.STRING())),
)
ROW = (7, "tea", Decimal("1.25"), datetime.datetime(2024, 1, 2, 3, 4, 5, 6000), datetime.date(2024, 1, 2), ["a", "b"])
EMPTY = (8, None, None, None, None, None)


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    server = RegistryServer()
    yield server
    server.close()


def options(name: str, url: str, **more: str) -> FormatOptions:
    return FormatOptions(name, "t", {"url": url, "subject": "goods-value", **more})


def encoded(
    name: str, given: FormatOptions, rows: list[Any], kinds: Any = None, fields: Fields = FIELDS
) -> list[bytes]:
    encoder = pickle.loads(pickle.dumps(FORMATS[name].encoder_of(fields, given)))
    cells = zip(*rows, strict=True)
    columns = [from_python(list(column), field.data_type) for column, field in zip(cells, fields, strict=True)]
    return encoder.encode(columns, kinds, len(rows))


def decoded(name: str, given: FormatOptions, messages: list[bytes], fields: Fields = FIELDS) -> list[tuple[Any, ...]]:
    found = pickle.loads(pickle.dumps(FORMATS[name].decoder_of(fields, given))).decode(messages)
    columns = [to_python(column, field.data_type) for column, field in zip(found.columns, fields, strict=True)]
    kinds = [0] * len(found.messages) if found.kinds is None else found.kinds.tolist()
    return [(kind, *row) for kind, row in zip(kinds, zip(*columns, strict=True), strict=True)]


def test_rows_come_back_and_the_schema_is_asked_for_once(registry: RegistryServer) -> None:
    given = options("avro-confluent", registry.url)
    messages = encoded("avro-confluent", given, [ROW, EMPTY])
    assert [message[:5] for message in messages] == [b"\0\0\0\0\1"] * 2
    assert registry.subjects == {"goods-value": 1}
    assert decoded("avro-confluent", given, messages) == [(0, *ROW), (0, *EMPTY)]
    assert registry.asked == ["POST /subjects/goods-value/versions", "GET /schemas/ids/1"]


def test_fields_are_found_by_name_in_the_schema_of_the_writer(registry: RegistryServer) -> None:
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    schema = {
        "type": "record",
        "name": "com.acme.Good",
        "fields": [
            {"name": "more", "type": "int"},
            {"name": "at", "type": micros},
            {"name": "name", "type": {"type": "enum", "name": "Kind", "symbols": ["TEA", "NUT"]}},
            {"name": "id", "type": "int"},
        ],
    }
    number = registry.register("goods-value", schema)
    stream = io.BytesIO()
    moment = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    fastavro.schemaless_writer(stream, schema, {"more": 1, "at": moment, "name": "NUT", "id": 3})
    message = struct.pack(">bI", 0, number) + stream.getvalue()
    expected = (0, 3, "NUT", None, datetime.datetime(2024, 1, 1), None, None)
    assert decoded("avro-confluent", options("avro-confluent", registry.url), [message]) == [expected]


def test_changes_as_debezium_tells_them(registry: RegistryServer) -> None:
    name, fields = "debezium-avro-confluent", FIELDS[:2]
    given = options(name, registry.url)
    kinds = np.array([0, 1, 2, 3], np.int8)
    messages = encoded(name, given, [(1, "a"), (1, "a"), (1, "b"), (1, "b")], kinds, fields)
    found = decoded(name, given, [*messages, b""], fields)
    assert found == [(0, 1, "a"), (3, 1, "a"), (0, 1, "b"), (3, 1, "b")]
    schema = registry.schemas[1]
    stream = io.BytesIO()
    update = {"before": {"id": 1, "name": "a"}, "after": {"id": 1, "name": None}, "op": "u"}
    fastavro.schemaless_writer(stream, schema, update)
    message = struct.pack(">bI", 0, 1) + stream.getvalue()
    assert decoded(name, given, [message], fields) == [(1, 1, "a"), (2, 1, None)]


@pytest.mark.parametrize(
    ("authorization", "given"),
    [
        (
            "Basic YW15OnNlY3JldA==",
            {"basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": "amy:secret"},
        ),
        ("Bearer abc", {"bearer-auth.credentials-source": "STATIC_TOKEN", "bearer-auth.token": "abc"}),
    ],
)
def test_who_asks(authorization: str, given: dict[str, str]) -> None:
    registry = RegistryServer(authorization)
    try:
        assert len(encoded("avro-confluent", options("avro-confluent", registry.url, **given), [ROW])) == 1
        with pytest.raises(JobExecutionError, match="401"):
            encoded("avro-confluent", options("avro-confluent", registry.url), [ROW])
    finally:
        registry.close()


def test_what_is_wrong_is_said(registry: RegistryServer) -> None:
    given = options("avro-confluent", registry.url)
    with pytest.raises(JobExecutionError, match="40403"):
        decoded("avro-confluent", given, [b"\0\0\0\0\x63x"])
    with pytest.raises(JobExecutionError, match="number of its schema"):
        decoded("avro-confluent", given, [b'{"id": 1}'])
    with pytest.raises(ProgramError, match="avro-confluent.url"):
        FORMATS["avro-confluent"].decoder_of(FIELDS, FormatOptions("avro-confluent", "t"))
    with pytest.raises(ProgramError, match="avro-confluent.subject"):
        FORMATS["avro-confluent"].encoder_of(FIELDS, FormatOptions("avro-confluent", "t", {"url": registry.url}))
    with pytest.raises(NotSupportedError, match="USER_INFO"):
        options_ = options("avro-confluent", registry.url, **{"basic-auth.credentials-source": "SASL_INHERIT"})
        FORMATS["avro-confluent"].decoder_of(FIELDS, options_)
    with pytest.raises(JobExecutionError, match="does not answer"):
        encoded("avro-confluent", options("avro-confluent", "http://127.0.0.1:1"), [ROW])


def test_topics_name_subjects() -> None:
    table = ConnectorTable(
        "t", FIELDS, {"topic": "goods", "key.format": "avro-confluent", "key.avro-confluent.url": "u"}
    )
    assert format_of(table, "key.format")[1].values == {"subject": "goods-key", "url": "u"}
