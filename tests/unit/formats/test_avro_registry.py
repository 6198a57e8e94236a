"""Avro messages that name their schema, against a registry over HTTP."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from tests.services.schema_registry import SchemaRegistryServer, schema_registry

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.formats.avro import (
    AvroSchema,
    ConfluentRegistryAvroDeserializationSchema,
    ConfluentRegistryAvroSerializationSchema,
)
from penstock.formats import schema_registry as client
from penstock.formats.decoding import decode


def record(*fields: tuple[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": [{"name": n, "type": t} for n, t in fields]})


ORDER = record(("id", "long"), ("name", "string"))
WITH_PRICE = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "name", "type": "string"},
            {"name": "id", "type": "long"},
            {"name": "price", "type": "double", "default": 1.5},
        ],
    }
)


@pytest.fixture
def registry() -> Iterator[SchemaRegistryServer]:
    with schema_registry() as server:
        yield server


def test_a_message_is_a_zero_byte_the_number_and_the_record(registry: SchemaRegistryServer) -> None:
    registry.schemas.append('{"type":"string"}')
    writer = ConfluentRegistryAvroSerializationSchema.for_generic("orders-value", ORDER, registry.url)
    message = pickle.loads(pickle.dumps(writer)).serialize({"id": 3, "name": "tea"})
    assert message == b"\x00\x00\x00\x00\x02" + b"\x06" + b"\x06tea"
    assert registry.subjects == {"orders-value": [2]}
    reader = ConfluentRegistryAvroDeserializationSchema.for_generic(ORDER, registry.url)
    assert pickle.loads(pickle.dumps(reader)).deserialize(message) == {"id": 3, "name": "tea"}


def test_the_registry_is_asked_once(registry: SchemaRegistryServer) -> None:
    writer = ConfluentRegistryAvroSerializationSchema.for_rows("orders value/1", ORDER, registry.url)
    reader = ConfluentRegistryAvroDeserializationSchema.for_rows(AvroSchema.parse_string(ORDER), registry.url)
    rows = [Row("id", "name")(n, f"n{n}") for n in range(50)]
    assert decode(reader, [writer.serialize(row) for row in rows]).records == rows
    assert registry.requests == ["POST /subjects/orders%20value%2F1/versions", "GET /schemas/ids/1"]
    assert reader.get_produced_type() == Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


def test_each_message_is_read_by_its_own_schema_and_gets_the_form_of_one(registry: SchemaRegistryServer) -> None:
    old = ConfluentRegistryAvroSerializationSchema.for_generic("orders", ORDER, registry.url)
    new = ConfluentRegistryAvroSerializationSchema.for_generic("orders", WITH_PRICE, registry.url)
    messages = [
        old.serialize({"id": 1, "name": "a"}),
        new.serialize({"id": 2, "name": "b", "price": 3.0}),
    ]
    reader = ConfluentRegistryAvroDeserializationSchema.for_rows(WITH_PRICE, registry.url)
    assert decode(reader, messages).records == [
        Row("name", "id", "price")("a", 1, 1.5),
        Row("name", "id", "price")("b", 2, 3.0),
    ]


def test_bad_messages_are_told_apart(registry: SchemaRegistryServer) -> None:
    writer = ConfluentRegistryAvroSerializationSchema.for_generic("orders", ORDER, registry.url)
    good = writer.serialize({"id": 1, "name": "a"})
    reader = ConfluentRegistryAvroDeserializationSchema.for_generic(ORDER, registry.url)
    other = record(("else", "long"))
    unlike = ConfluentRegistryAvroSerializationSchema.for_generic("x", other, registry.url).serialize({"else": 1})
    bad = [b"", b"\x01\x00\x00\x00\x01", b"\x00\x00\x00\x00\x63x", good[:-1], unlike]
    decoded = decode(reader, [*bad, good])
    assert decoded.records == [{"id": 1, "name": "a"}] and [position for position, _ in decoded.bad] == [0, 1, 2, 3, 4]
    assert "no message of a schema registry" in decoded.bad[0][1]
    assert "Schema 99 not found" in decoded.bad[2][1]


def test_a_registry_that_is_away_fails_the_job_and_no_message(
    registry: SchemaRegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    message = ConfluentRegistryAvroSerializationSchema.for_generic("o", ORDER, registry.url).serialize(
        {"id": 1, "name": "a"}
    )
    registry.broken = 2
    reader = ConfluentRegistryAvroDeserializationSchema.for_generic(ORDER, registry.url)
    assert decode(reader, [message]).records == [{"id": 1, "name": "a"}], "it was asked again"
    registry.broken = 1_000
    with pytest.raises(JobExecutionError, match="does not answer /schemas/ids/1: 500"):
        decode(ConfluentRegistryAvroDeserializationSchema.for_generic(ORDER, registry.url), [message])
    registry.stop()
    with pytest.raises(JobExecutionError, match="does not answer"):
        decode(ConfluentRegistryAvroDeserializationSchema.for_generic(ORDER, registry.url), [message])


def test_logins_are_used_and_not_shown() -> None:
    with schema_registry("me:secret") as registry:
        writer = ConfluentRegistryAvroSerializationSchema.for_generic("o", ORDER, registry.url)
        message = writer.serialize({"id": 1, "name": "a"})
        wrong = registry.url.replace("me:secret", "me:wrong")
        reader = ConfluentRegistryAvroDeserializationSchema.for_generic(ORDER, wrong)
        with pytest.raises(JobExecutionError, match="401") as failure:
            reader.deserialize(message)
        assert "wrong" not in str(failure.value) and "secret" not in repr(writer._registry)
