"""Keys that are fields: the same keys on both faces, and no record is made where columns have them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.runtime.blueprints import edge

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream import StreamExecutionEnvironment
from penstock.functions.field_key import FieldKey
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.chunk import read_chunk
from penstock.runtime.exchange import ExchangeRow, codec_of_edge, writer_for
from penstock.runtime.key_selection import KeySelection
from penstock.runtime.partitioning import ByKey

TRIPLE = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])
NAMED = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.LONG()])


def in_columns(values: list[Any], declared: Any = TRIPLE) -> Batch:
    codec = codec_for(declared)
    assert codec is not None
    return Batch.of_columns(codec, codec.encode(values))


records = st.lists(
    st.tuples(st.one_of(st.none(), st.text(max_size=3)), st.one_of(st.none(), st.integers(-9, 9)), st.floats(-1, 1)),
    min_size=1,
    max_size=8,
)
key_types = {
    (0,): [None, Types.STRING()],
    (1,): [None, Types.INT(), Types.LONG(), Types.DOUBLE()],
    (2,): [None, Types.DOUBLE(), Types.FLOAT()],
    (1, 0): [None, Types.TUPLE([Types.INT(), Types.STRING()])],
}


@given(records, st.sampled_from([(p, t) for p, types in key_types.items() for t in types]))
def test_both_faces_have_the_same_keys(values: list[Any], chosen: tuple[tuple[int, ...], Any]) -> None:
    positions, key_type = chosen
    selection = KeySelection(FieldKey(*positions), key_type)

    def keys_of(batch: Batch) -> list[Any]:
        keys = selection.keys_of(batch)
        keyed = batch.keyed(keys if isinstance(keys, pa.Array) else selection.declared(keys))
        return [] if keyed.keys is None else keyed.keys

    columns = in_columns(values)
    found = keys_of(columns)
    assert columns._values is None, "no record was made"
    assert repr(found) == repr(keys_of(Batch(values)))


@pytest.mark.parametrize("parallelism", [1, 3])
def test_columns_cross_a_key_exchange_as_columns(parallelism: int) -> None:
    plan = edge(ByKey(FieldKey(0), Types.STRING()), 1, parallelism, type_info=TRIPLE)
    values = [(f"key {n % 50}", n, n / 2) for n in range(1000)]

    def sent(batch: Batch) -> list[tuple[int, Any, Any]]:
        rows: list[ExchangeRow] = []
        writer = writer_for(plan, 0, 100, rows.append)
        writer.emit(batch)
        writer.flush()
        arrived = [(row.subtask, element) for row in rows for element in read_chunk(row.payload, codec_of_edge(plan))]
        return [(subtask, element.values, element.keys) for subtask, element in arrived if isinstance(element, Batch)]

    columns = in_columns(values)
    found = sent(columns)
    assert columns._values is None
    assert found == sent(Batch(values))


def test_rows_that_were_seen_are_asked_again() -> None:
    batch = in_columns([Row(name="a", amount=1)], NAMED)
    batch.values[0]["amount"] = 2
    assert KeySelection(FieldKey(1), None).keys_of(batch) == pa.array([2])


def test_a_record_that_is_none_fails_as_with_a_function() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        KeySelection(FieldKey(0), None).keys_of(in_columns([("a", 1, 0.5), None]))


def test_a_getter_of_fields_is_known_where_the_type_is_declared() -> None:
    by_name = FieldKey.of(itemgetter("amount"), NAMED)
    assert by_name is not None and by_name.positions == (1,)
    assert by_name.get_key(Row(amount=5, name="in another order")) == 5
    both = FieldKey.of(itemgetter(1, 0), TRIPLE)
    assert both is not None and both.positions == (1, 0)
    for getter, declared in (
        (itemgetter(3), TRIPLE),
        (itemgetter(-1), TRIPLE),
        (itemgetter("other"), NAMED),
        (itemgetter(slice(1)), TRIPLE),
        (itemgetter(0), Types.PICKLED_BYTE_ARRAY()),
        (lambda record: record[0], TRIPLE),
    ):
        assert FieldKey.of(getter, declared) is None


def test_key_by_takes_a_getter_of_fields() -> None:
    env = StreamExecutionEnvironment()
    pairs = env.from_collection([("a", 1, 0.5)], TRIPLE)
    assert isinstance(pairs.key_by(itemgetter(0))._key_selector, FieldKey)
    assert not isinstance(pairs.key_by(lambda record: record[0])._key_selector, FieldKey)
    with pytest.raises(ProgramError):
        pairs.key_by(7)  # type: ignore[arg-type]
