from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Instant, Row, RowKind, TypeInformation, Types
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.coercion import coercer

NAMED = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
ints = st.integers(-(2**31), 2**31 - 1)
floats = st.floats(allow_nan=False)

Leaf = tuple[TypeInformation, st.SearchStrategy[Any]]
LEAVES: list[Leaf] = [
    (Types.BYTE(), st.integers(-128, 127)),
    (Types.SHORT(), st.integers(-32768, 32767) | st.booleans()),
    (Types.INT(), ints | st.floats(-1e9, 1e9)),
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (Types.FLOAT(), floats | ints),
    (Types.DOUBLE(), floats | st.integers(-(2**70), 2**70)),
    (Types.BOOLEAN(), st.booleans() | ints),
    (Types.STRING(), texts),
    (Types.CHAR(), st.characters(exclude_categories=["Cs"])),
    (Types.BIG_INT(), st.integers()),
    (Types.BIG_DEC(), st.decimals(allow_nan=False)),
    (Types.INSTANT(), st.builds(Instant, st.integers(-(10**10), 10**10), st.integers(0, 999_999_999))),
    (Types.SQL_DATE(), st.dates() | st.datetimes()),
    (Types.SQL_TIME(), st.times()),
    (Types.SQL_TIMESTAMP(), st.datetimes()),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), st.binary(max_size=4)),
    (Types.PICKLED_BYTE_ARRAY(), st.sets(ints, max_size=2)),
]


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values | st.none()


def rows(fields: list[Leaf]) -> st.SearchStrategy[Any]:
    values = st.tuples(*(optional(values) for _, values in fields))
    return st.builds(lambda kind, parts: Row.of_kind(kind, *parts), st.sampled_from(RowKind), values)


def containers(inner: st.SearchStrategy[Leaf]) -> st.SearchStrategy[Leaf]:
    fields = st.lists(inner, max_size=3)
    return st.one_of(
        fields.map(lambda f: (Types.TUPLE([t for t, _ in f]), st.tuples(*(optional(v) for _, v in f)))),
        fields.map(lambda f: (Types.ROW([t for t, _ in f]), rows(f))),
        inner.map(lambda leaf: (Types.LIST(leaf[0]), st.lists(optional(leaf[1]), max_size=3))),
        inner.map(
            lambda leaf: (
                Types.MAP(Types.STRING(), leaf[0]),
                st.dictionaries(texts, optional(leaf[1]), max_size=3),
            )
        ),
    )


typed_values = st.recursive(st.sampled_from(LEAVES), containers, max_leaves=4)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_decoding_gives_what_coercion_gives(data: st.DataObject) -> None:
    type_info, values = data.draw(typed_values)
    codec, coerce = codec_for(type_info), coercer(type_info)
    if codec is None or coerce is None:
        assert type_info == Types.PICKLED_BYTE_ARRAY()
        return
    records = data.draw(st.lists(optional(values), max_size=5))
    expected = [coerce(record) for record in records]
    decoded = codec.decode(through_ipc(codec.encode(records)))
    assert decoded == expected and repr(as_lists(decoded)) == repr(as_lists(expected))


def as_lists(value: Any) -> Any:
    """Rows keep their values in a list or in a tuple, which is of no interest to anyone."""
    if isinstance(value, Row):
        return [value.get_row_kind(), *map(as_lists, value)]
    return [as_lists(part) for part in value] if isinstance(value, list) else value


def through_ipc(batch: pa.RecordBatch) -> pa.RecordBatch:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def test_extra_columns_only_when_needed() -> None:
    codec = codec_for(NAMED)
    assert codec is not None
    assert codec.encode([Row(1, "a")]).num_columns == 2
    assert codec.encode([Row.of_kind(RowKind.DELETE, 1, "a"), Row(1, "b")]).num_columns == 3
    assert codec.encode([Row(1, "a"), None]).num_columns == 3


@pytest.mark.parametrize(
    ("type_info", "records"),
    [
        (NAMED, [Row(b="x", a=1), Row(1.9, "y", "extra"), None, Row(a=2, b=None)]),
        (Types.TUPLE([]), [(), None, ()]),
        (Types.DOUBLE(), [1, 2.5, None, True]),
        (NAMED, []),
    ],
)
def test_records_that_are_not_straight(type_info: TypeInformation, records: list[Any]) -> None:
    codec, coerce = codec_for(type_info), coercer(type_info)
    assert codec is not None and coerce is not None
    assert codec.decode(codec.encode(records)) == [coerce(record) for record in records]


@pytest.mark.parametrize("record", [Row(2**31, "x"), Row(math.nan, "x"), Row("1", "x")])
def test_refused_values_name_their_field(record: Row) -> None:
    codec = codec_for(NAMED)
    assert codec is not None
    with pytest.raises((TypeError, ValueError), match="^field 'a': "):
        codec.encode([Row(1, "y"), record])


def test_bytes_are_no_string_although_arrow_would_take_them() -> None:
    codec = codec_for(Types.STRING())
    assert codec is not None
    with pytest.raises(TypeError, match="it takes str"):
        codec.encode(["a", b"b"])


def test_pickled_types_have_no_codec() -> None:
    assert codec_for(Types.PICKLED_BYTE_ARRAY()) is None
