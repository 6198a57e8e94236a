"""JSON messages; the expected values were seen on PyFlink 2.3."""

from __future__ import annotations

import pickle
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

TYPE = Types.ROW_NAMED(["a", "b", "c"], [Types.INT(), Types.STRING(), Types.DOUBLE()])


def builder(type_info: Any = TYPE) -> JsonRowDeserializationSchema.Builder:
    return JsonRowDeserializationSchema.builder().type_info(type_info)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('{"a":1,"b":"x","c":1.5}', (1, "x", 1.5)),
        ('{"a":1,"z":5}', (1, None, None)),
        ('{"a":"7","b":5,"c":"2.5"}', (7, "5", 2.5)),
        ('{"a":1.9,"b":true,"c":1}', (1, "true", 1.0)),
        ('{"b":{"x":1}}', (None, '{"x":1}', None)),
        ('{"b":[1,2]}', (None, "[1,2]", None)),
        ('{"b":1.0}', (None, "1.0", None)),
        ('{"A":1}', (None, None, None)),
        ('{"a":1} trailing', (1, None, None)),
    ],
)
def test_messages(message: str, expected: tuple[Any, ...]) -> None:
    schema = pickle.loads(pickle.dumps(builder().build()))
    assert schema.deserialize(message.encode()) == Row("a", "b", "c")(*expected)


@pytest.mark.parametrize("message", ['{"a":"x"}', "garbage", "", '{"a":99999999999}', "[1]", '{"a":true}', '{"c":NaN}'])
def test_messages_that_cannot_be_read(message: str) -> None:
    with pytest.raises(ValueError, match="Failed to deserialize JSON"):
        builder().build().deserialize(message.encode())


@pytest.mark.parametrize("message", [rb'{"b":"\ud800"}', rb'{"b":["\udc00x"]}'])
def test_halves_of_characters_are_no_text(message: bytes) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        builder().build().deserialize(message)


def test_null_is_no_row() -> None:
    assert builder().build().deserialize(b"null") is None


def test_missing_fields_fail_if_asked_for() -> None:
    schema = builder().fail_on_missing_field().build()
    with pytest.raises(ValueError, match="no field 'b'"):
        schema.deserialize(b'{"a":1}')
    assert schema.deserialize(b'{"a":null,"b":"x","c":1.5}') == Row(a=None, b="x", c=1.5)


def test_errors_are_ignored_if_asked_for() -> None:
    schema = builder().ignore_parse_errors().build()
    assert schema.deserialize(b'{"a":"x","b":"y"}') == Row(a=None, b="y", c=None)
    assert schema.deserialize(b"garbage") is None
    assert schema.deserialize(b"\xff") is None
    with pytest.raises(ProgramError, match="both"):
        builder().fail_on_missing_field().ignore_parse_errors().build()
    with pytest.raises(ProgramError, match="needs a type"):
        JsonRowDeserializationSchema.builder().build()


def test_all_types_there_and_back() -> None:
    fields = {
        "d": (Types.SQL_DATE(), date(2024, 1, 2), '"2024-01-02"'),
        "t": (Types.SQL_TIME(), time(3, 4, 5), '"03:04:05Z"'),
        "ts": (Types.SQL_TIMESTAMP(), datetime(2024, 1, 2, 3, 4, 5, 123000), '"2024-01-02T03:04:05.123Z"'),
        "bo": (Types.BOOLEAN(), True, "true"),
        "arr": (Types.OBJECT_ARRAY(Types.INT()), [1, None], "[1,null]"),
        "l": (Types.LIST(Types.INT()), [1, 2], "[1,2]"),
        "m": (Types.MAP(Types.STRING(), Types.INT()), {"k": 1}, '{"k":1}'),
        "r": (Types.ROW_NAMED(["x"], [Types.INT()]), Row(x=3), '{"x":3}'),
        "by": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x01\x02", '"AQI="'),
        "big": (Types.BIG_INT(), 123456789012345678901, "123456789012345678901"),
        "dec": (Types.BIG_DEC(), Decimal("1.1"), "1.1"),
        "f": (Types.DOUBLE(), 1e20, "1.0E20"),
        "s": (Types.STRING(), 'ü\n"', '"ü\\n\\""'),
        "n": (Types.LONG(), None, "null"),
    }
    type_info = Types.ROW_NAMED(list(fields), [entry[0] for entry in fields.values()])
    row = Row(**{name: entry[1] for name, entry in fields.items()})
    text = "{" + ",".join(f'"{name}":{entry[2]}' for name, entry in fields.items()) + "}"
    writer = pickle.loads(pickle.dumps(JsonRowSerializationSchema.builder().with_type_info(type_info).build()))
    assert writer.serialize(row).decode() == text
    assert builder(type_info).build().deserialize(text.encode()) == row


@pytest.mark.parametrize("message", [b'{"t":"03:04:05"}', b'{"ts":"2024-01-02 03:04:05"}', b'{"d":"2024"}'])
def test_times_need_a_zone(message: bytes) -> None:
    types = Types.ROW_NAMED(["d", "t", "ts"], [Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()])
    with pytest.raises(ValueError, match="Failed to deserialize"):
        builder(types).build().deserialize(message)


def test_a_row_that_does_not_fit_cannot_be_written() -> None:
    schema = JsonRowSerializationSchema.builder().with_type_info(TYPE).build()
    with pytest.raises(ValueError, match="Could not serialize"):
        schema.serialize(Row(1, "x"))
    assert schema.serialize(Row(c=1.0, a=1, b="x")) == b'{"a":1,"b":"x","c":1.0}'


def test_json_schema() -> None:
    schema = JsonRowDeserializationSchema.builder().json_schema(
        '{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","format":"date"},'
        '"c":{"type":"array","items":{"type":"number"}},"d":{"type":"object","properties":{"x":{"type":"boolean"}}}}}'
    )
    built = schema.build()
    assert built.deserialize(b'{"a":1,"b":"2024-01-02","c":[1.5],"d":{"x":true}}') == Row(
        a=Decimal(1), b=date(2024, 1, 2), c=[Decimal("1.5")], d=Row(x=True)
    )
    with pytest.raises(NotSupportedError, match=r"the root\.a"):
        schema.json_schema('{"type":"object","properties":{"a":{"$ref":"#/x"}}}')
