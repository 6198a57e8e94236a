"""Messages decoded together give what they give one by one; those that cannot be read are told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import DeserializationSchema, SimpleStringSchema, Types
from penstock.datastream.formats.csv import CsvRowDeserializationSchema
from penstock.datastream.formats.json import JsonRowDeserializationSchema
from penstock.formats.decoding import decode
from penstock.runtime.batch import Batch

ROW = Types.ROW_NAMED(
    ["id", "name", "x", "ok", "n"], [Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.BOOLEAN(), Types.INT()]
)
JSON = JsonRowDeserializationSchema.builder().type_info(ROW).build()

VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.just([1, {"a": "}{"}])
)
OBJECTS = st.dictionaries(st.sampled_from(["id", "name", "x", "ok", "n", "other"]), VALUES, max_size=4)
WELL_TYPED = st.fixed_dictionaries(
    {},
    optional={
        "id": st.none() | st.integers(-(2**63), 2**63 - 1),
        "name": st.none() | st.text(max_size=5),
        "x": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "ok": st.none() | st.booleans(),
        "n": st.integers(-(2**31), 2**31 - 1),
        "other": VALUES,
    },
)
PRETTY = OBJECTS.map(lambda value: json.dumps(value, indent=1).encode())
ODD = st.sampled_from(
    [
        b"",
        b"null",
        b"{}",
        b"[]",
        b'{"id":1}{"id":2}',
        b'{"id":1}\n{"id":2}',
        b'{"id":1',
        b"}",
        b'{"id":0x1F}',
        b"\xff",
        b" ",
    ]
)
MESSAGES = st.one_of(
    st.lists(WELL_TYPED.map(lambda value: json.dumps(value).encode()), max_size=6),
    st.lists(
        OBJECTS.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) | PRETTY | ODD,
        max_size=6,
    ),
)


def one_by_one(schema: DeserializationSchema, messages: list[bytes]) -> tuple[list[str], list[int]]:
    good, bad = [], []
    for position, message in enumerate(messages):
        try:
            record = schema.deserialize(message)
        except Exception:
            bad.append(position)
        else:
            good += [] if record is None else [repr(record)]
    return good, bad


@given(MESSAGES)
def test_json_together_and_one_by_one(messages: list[bytes]) -> None:
    decoded = decode(JSON, messages)
    records = decoded.records.values if isinstance(decoded.records, Batch) else decoded.records
    assert (list(map(repr, records)), [position for position, _ in decoded.bad]) == one_by_one(JSON, messages)


def test_plain_json_becomes_columns() -> None:
    messages = [json.dumps({"id": n, "name": f"ä{n}", "x": n / 3, "more": [n]}).encode() for n in range(100)]
    decoded = decode(JSON, messages)
    assert isinstance(decoded.records, Batch) and decoded.records.columns is not None
    assert decoded.records.values[7].name == "ä7"


class Picky(DeserializationSchema):
    def deserialize(self, message: bytes) -> Any:
        return None if message == b"nothing" else int(message)


def test_positions_of_what_was_kept_and_what_was_bad() -> None:
    decoded = decode(Picky(), [b"1", b"nothing", None, b"x", b"2"])
    assert (decoded.records, decoded.kept) == ([1, 2], [0, 4])
    assert [position for position, _ in decoded.bad] == [3] and "ValueError" in decoded.bad[0][1]


@pytest.mark.parametrize("charset", ["UTF-8", "UTF-16", "ISO-8859-1"])
def test_strings(charset: str) -> None:
    schema = SimpleStringSchema(charset)
    messages = schema._serialize_all(["a", "b\n"])
    assert decode(schema, messages).records == ["a", "b\n"]


CSV_TYPE = Types.ROW([Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.BOOLEAN()])
FIELDS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.floats().map(str),
    st.text(st.characters(codec="utf-8"), max_size=4),
    st.sampled_from(["", "true", "FALSE", "null", '"a,b"', '"', '""', "0x1F", " 1", "1 ", "+1", "1e3", "nan(1)", "#"]),
)
PLAIN_LINES = st.tuples(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.text("abcäö", max_size=3),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["true", "false"]),
)
LINES = st.lists(FIELDS, max_size=5) | PLAIN_LINES
CSV_MESSAGES = st.lists(PLAIN_LINES, max_size=5) | st.lists(LINES, max_size=5)


@given(CSV_MESSAGES, st.sampled_from([None, "null"]))
def test_csv_together_and_one_by_one(lines: list[list[str]], null: str | None) -> None:
    builder = CsvRowDeserializationSchema.Builder(CSV_TYPE)
    schema = (builder if null is None else builder.set_null_literal(null)).build()
    messages = [",".join(line).encode() for line in lines]
    decoded = decode(schema, messages)
    records = decoded.records.values if isinstance(decoded.records, Batch) else decoded.records
    assert (list(map(repr, records)), [position for position, _ in decoded.bad]) == one_by_one(schema, messages)


def test_plain_csv_becomes_columns() -> None:
    schema = CsvRowDeserializationSchema.Builder(CSV_TYPE).build()
    decoded = decode(schema, [f"{n},ä{n},{n / 4},true".encode() for n in range(100)])
    assert isinstance(decoded.records, Batch) and decoded.records.values[3][1] == "ä3"
