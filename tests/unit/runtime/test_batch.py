"""The two faces of a batch hold the same records, whatever part of it is taken, and each is made once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.common.types import Row, RowKind
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Codec, joined
from penstock.runtime.chunk import ChunkBuilder, read_chunk

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
NAMED = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.LONG()])


class CountingCodec:
    """Counts how often records are made."""

    def __init__(self, codec: Codec | None) -> None:
        assert codec is not None
        self._codec = codec
        self.type_info, self.mutable = codec.type_info, codec.mutable
        self.form, self.schema = codec.form, codec.schema
        self.field, self.field_values, self.encode = codec.field, codec.field_values, codec.encode
        self.decoded = 0

    def decode(self, columns: pa.RecordBatch) -> list[Any]:
        self.decoded += columns.num_rows
        return self._codec.decode(columns)


def in_rows(records: list[tuple[Any, int, int]]) -> Batch:
    return Batch([record[:2] for record in records], [t for *_, t in records], [n for n, *_ in records])


def in_columns(records: list[tuple[Any, int, int]], codec: Any = None) -> Batch:
    codec = codec or codec_for(PAIR)
    columns = codec.encode([record[:2] for record in records])
    return Batch.of_columns(
        codec, columns, np.array([t for *_, t in records], np.int64), pa.array([n for n, *_ in records], pa.string())
    )


def content(batch: Batch) -> tuple[Any, ...]:
    return batch.values, batch.timestamps, batch.keys


records = st.lists(st.tuples(st.text(max_size=3), st.integers(-9, 9), st.integers(0, 99)), min_size=1, max_size=12)


@given(records, st.data())
def test_parts_of_both_faces_are_the_same(found: list[tuple[Any, int, int]], data: st.DataObject) -> None:
    rows, columns = in_rows(found), in_columns(found)
    if data.draw(st.booleans()):
        assert columns.values == rows.values  # then it has both faces
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(found)), st.integers(0, len(found)))))
    positions = np.array(data.draw(st.lists(st.integers(0, len(found) - 1), max_size=8)), np.int64)
    mask = data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    assert content(rows.slice(start, end)) == content(columns.slice(start, end))
    assert content(rows.take(positions)) == content(columns.take(positions))
    assert content(rows.filter(mask)) == content(columns.filter(np.array(mask)))
    assert content(rows.every(3, start)) == content(columns.every(3, start))
    assert content(joined([rows, rows])) == content(joined([columns, columns])) == content(joined([rows, columns]))


def test_records_are_made_once_and_only_when_somebody_reads_them() -> None:
    codec = CountingCodec(codec_for(PAIR))
    batch = in_columns([("a", 1, 5), ("b", 2, 6)], codec)
    part = joined([batch.slice(0, 1), batch.take(np.array([1]))]).keyed(["x", "y"]).timed([1, 2])
    assert (len(part), part.times is None, codec.decoded) == (2, False, 0)
    assert part.values is part.values and codec.decoded == 2
    assert part.slice(0, 1).values == [("a", 1)] and codec.decoded == 2


def test_columns_of_a_mutable_record_are_not_trusted_once_somebody_has_the_rows() -> None:
    codec = codec_for(NAMED)
    assert codec is not None
    batch = Batch.of_columns(codec, codec.encode([Row(name="a", amount=1)]))
    assert batch.columns_of(codec) is not None
    for other in (PAIR, Types.ROW_NAMED(["amount", "name"], NAMED.get_field_types())):
        assert batch.columns_of(codec_for(other)) is None  # type: ignore[arg-type]
    batch.values[0]["amount"] = 7
    assert batch.columns_of(codec) is None
    assert batch.in_columns(codec).field(1) == pa.array([7])
    tuples = in_columns([("a", 1, 5)])
    assert tuples.values and tuples.exact_columns is not None


def test_rows_become_columns_when_asked_with_their_keys_and_times() -> None:
    codec = codec_for(PAIR)
    assert codec is not None
    batch = in_rows([("a", 1, 5)]).in_columns(codec)
    assert batch.columns.schema == codec.schema
    assert content(batch) == ([("a", 1)], [5], ["a"])


def test_timestamps_of_some_batches_only() -> None:
    whole = joined([Batch([1]), Batch([2], [7]), Batch([3])])
    assert whole.timestamps == [MIN_TIMESTAMP, 7, MIN_TIMESTAMP]
    assert joined([Batch([1]), Batch([2])]).timestamps is None


@pytest.mark.parametrize("through_a_chunk", [False, True])
def test_row_kinds_survive(through_a_chunk: bool) -> None:
    codec = codec_for(NAMED)
    assert codec is not None
    kinds = np.array([kind.value for kind in RowKind], np.int8)
    columns = codec.encode([Row(name="a", amount=number) for number in range(4)])
    batch = Batch.of_columns(codec, columns, kinds=kinds)
    inserted = Batch.of_columns(codec, columns.slice(0, 1))
    whole = joined([inserted, batch])
    if through_a_chunk:
        builder = ChunkBuilder()
        builder.add(inserted)
        builder.add(batch)
        [received] = read_chunk(builder.take(codec), codec)
        assert isinstance(received, Batch)
        whole = received
    assert whole.kinds is not None and whole.kinds.tolist() == [0, 0, 1, 2, 3]
    assert [row.get_row_kind() for row in whole.values] == [RowKind.INSERT, *RowKind]
    assert whole.slice(3, 5).values[0].get_row_kind() is RowKind.UPDATE_AFTER
    assert inserted.kinds is None and Batch([1]).kinds is None
    back = Batch(whole.values).in_columns(codec)
    assert back.kinds is not None and back.kinds.tolist() == [0, 0, 1, 2, 3]
