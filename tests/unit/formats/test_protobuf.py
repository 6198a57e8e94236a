"""Protocol Buffers messages as rows, and back."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

from penstock.common import Row, Types
from penstock.formats.decoding import decode
from penstock.formats.protobuf import ProtobufRowDeserializationSchema, ProtobufRowSerializationSchema
from penstock.runtime.batch import Batch

F = descriptor_pb2.FieldDescriptorProto


def field(name: str, number: int, kind: Any, label: Any = F.LABEL_OPTIONAL, type_name: str = "", **more: Any) -> Any:
    return F(name=name, number=number, type=kind, label=label, type_name=type_name or None, **more)


@pytest.fixture(scope="module")
def classes() -> dict[str, Any]:
    """As protoc would generate them of a file with an enum, a nested message, a map and an optional field."""
    file = descriptor_pb2.FileDescriptorProto(name="test.proto", package="test", syntax="proto3")
    color = file.enum_type.add(name="Color")
    for number, name in enumerate(("RED", "BLUE")):
        color.value.add(name=name, number=number)
    flat = file.message_type.add(name="Flat")
    flat.field.extend(
        [
            field("id", 1, F.TYPE_INT64),
            field("name", 2, F.TYPE_STRING),
            field("color", 3, F.TYPE_ENUM, type_name=".test.Color"),
            field("size", 4, F.TYPE_UINT32),
            field("note", 5, F.TYPE_STRING, proto3_optional=True, oneof_index=0),
        ]
    )
    flat.oneof_decl.add(name="_note")
    deep = file.message_type.add(name="Deep")
    entry = deep.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.extend([field("key", 1, F.TYPE_STRING), field("value", 2, F.TYPE_INT32)])
    deep.field.extend(
        [
            field("inner", 1, F.TYPE_MESSAGE, type_name=".test.Flat"),
            field("tags", 2, F.TYPE_STRING, F.LABEL_REPEATED),
            field("counts", 3, F.TYPE_MESSAGE, F.LABEL_REPEATED, ".test.Deep.CountsEntry"),
            field("raw", 4, F.TYPE_BYTES),
        ]
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("test.Flat", "test.Deep")
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}


def test_flat_messages_become_columns_that_equal_the_rows(classes: dict[str, Any]) -> None:
    flat = classes["test.Flat"]
    schema = pickle.loads(pickle.dumps(ProtobufRowDeserializationSchema(flat)))
    messages = [
        flat(id=n, name=f"n{n}", color=n % 2, size=2**32 - 1, **({"note": ""} if n % 3 else {})).SerializeToString()
        for n in range(10)
    ]
    decoded = decode(schema, messages)
    assert isinstance(decoded.records, Batch) and decoded.records.columns is not None
    assert decoded.records.values == [schema.deserialize(message) for message in messages]
    assert decoded.records.values[3] == Row(id=3, name="n3", color="BLUE", size=-1, note=None)
    assert decoded.records.values[4].note == ""


def test_rows_there_and_back(classes: dict[str, Any]) -> None:
    deep = classes["test.Deep"]
    reading, writing = ProtobufRowDeserializationSchema(deep), ProtobufRowSerializationSchema(deep)
    inner = Row(id=1, name="x", color="RED", size=-5, note=None)
    for row in (
        Row(inner=inner, tags=["a", "b"], counts={"k": 3}, raw=b"\x00"),
        Row(inner=None, tags=[], counts={}, raw=b""),
    ):
        assert reading.deserialize(pickle.loads(pickle.dumps(writing)).serialize(row)) == row
    assert reading.get_produced_type().get_field_types()[1:3] == [
        Types.OBJECT_ARRAY(Types.STRING()),
        Types.MAP(Types.STRING(), Types.INT()),
    ]


def test_what_cannot_be_read_or_written(classes: dict[str, Any]) -> None:
    schema = ProtobufRowDeserializationSchema(classes["test.Flat"])
    decoded = decode(schema, [b"\xff\xff", classes["test.Flat"](id=1).SerializeToString()])
    assert [position for position, _ in decoded.bad] == [0] and len(decoded.records) == 1
    with pytest.raises(ValueError, match="Could not serialize .* as test.Flat"):
        ProtobufRowSerializationSchema(classes["test.Flat"]).serialize(Row("text", "x", "RED", 1, None))
