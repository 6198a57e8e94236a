"""What stays in a process arrives there as it would from elsewhere; what somebody could change is copied."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.runtime.blueprints import edge

from penstock.common import Row, TypeInformation, Types
from penstock.runtime.batch import Batch, Watermark
from penstock.runtime.chunk import read_chunk
from penstock.runtime.exchange import ExchangeRow, Neighbours, codec_of_edge, writer_for
from penstock.runtime.near_chunk import NearChunk
from penstock.runtime.partitioning import ByKey, Partitioning, Rebalance

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
NEAR, FAR = Neighbours(frozenset({0, 1})), Neighbours()


class Itself:
    def get_key(self, value: Any) -> Any:
        return value


class Changeable:
    """A key that its program could change."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Changeable) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


class InAnObject:
    def get_key(self, value: Any) -> Any:
        return (Changeable(value),)


def sent(
    near: Neighbours,
    type_info: TypeInformation | None,
    *batches: Batch,
    by: Partitioning | None = None,
    watermark: int | None = None,
) -> list[ExchangeRow]:
    rows: list[ExchangeRow] = []
    plan = edge(by or Rebalance(), 1, 2, type_info=type_info)
    writer = writer_for(plan, 0, 1000, rows.append, near)
    for batch in batches:
        writer.emit(batch)
        if watermark is not None:
            writer.emit_watermark(watermark)
    writer.flush()
    return rows


def arrived(rows: list[ExchangeRow], type_info: TypeInformation | None) -> list[Any]:
    codec = codec_of_edge(edge(Rebalance(), type_info=type_info))
    elements = [(row.subtask, element) for row in rows for element in read_chunk(row.payload, codec)]
    return [
        (subtask, [(type(v), v) for v in one.values], one.timestamps, one.keys) if isinstance(one, Batch) else one
        for subtask, one in elements
    ]


@pytest.mark.parametrize(
    ("type_info", "values"),
    [
        (Types.STRING(), ["a", "", "é", "b"]),
        (Types.STRING(), ["a", None]),
        (Types.LONG(), [1, 2, -3]),
        (Types.INT(), [True, 2]),
        (Types.DOUBLE(), [1, 2.5]),
        (PAIR, [("a", 1), ("b", 2), ("c", 3)]),
        (PAIR, [("a", 1), ("b", None)]),
        (Types.ROW([Types.INT()]), [Row(1), Row(2)]),
        (Types.LIST(Types.INT()), [[1], [2, 3]]),
        (None, [1, "x", [2]]),
    ],
)
@pytest.mark.parametrize("take_rows", [True, False])
def test_near_and_far_see_the_same(type_info: TypeInformation | None, values: list[Any], take_rows: bool) -> None:
    near = NEAR._replace(take_rows=take_rows)
    for timestamps in (None, list(range(len(values)))):
        both = [
            arrived(sent(way, type_info, Batch(list(values), timestamps), watermark=7), type_info)
            for way in (near, FAR)
        ]
        assert both[0] == both[1]


def test_constant_records_go_as_they_are() -> None:
    text = "only one of its kind"
    [row] = sent(NEAR, Types.STRING(), Batch([text]))
    assert isinstance(row.payload, NearChunk) and row.payload.records is not None
    assert row.payload.records.values[0] is text


@pytest.mark.parametrize(
    ("type_info", "value"),
    [(Types.LIST(Types.INT()), [1]), (Types.ROW([Types.INT()]), Row(1)), (None, {"a": 1}), (Types.DOUBLE(), 1)],
)
def test_what_can_be_changed_or_is_of_another_type_is_copied(type_info: TypeInformation | None, value: Any) -> None:
    [row] = sent(NEAR, type_info, Batch([value]))
    assert isinstance(row.payload, bytes)


def test_constant_records_with_keys_that_can_be_changed_are_copied() -> None:
    plain = sent(NEAR, Types.STRING(), Batch(["a"]), by=ByKey(Itself()))
    own = sent(NEAR, Types.STRING(), Batch(["a"]), by=ByKey(InAnObject()))
    assert [type(row.payload) for row in plain + own] == [NearChunk, bytes]


def test_a_subtask_elsewhere_gets_bytes() -> None:
    rows = sent(Neighbours(frozenset({1})), Types.LONG(), Batch([1, 2]))
    assert {row.subtask: type(row.payload) for row in rows} == {0: bytes, 1: NearChunk}


def test_columns_are_made_for_those_who_look_at_them() -> None:
    for take_rows in (True, False):
        [row] = sent(NEAR._replace(take_rows=take_rows), PAIR, Batch([("a", 1)]))
        assert isinstance(row.payload, NearChunk) and row.payload.records is not None
        assert (row.payload.records.columns is None) is take_rows


def test_columns_stay_columns_without_the_rows_that_somebody_has_made_of_them() -> None:
    codec = codec_of_edge(edge(Rebalance(), type_info=Types.ROW([Types.INT()])))
    assert codec is not None
    batch = Batch.of_columns(codec, codec.encode([Row(1)]))
    [row] = sent(NEAR, Types.ROW([Types.INT()]), batch)
    assert isinstance(row.payload, NearChunk) and row.payload.records is not None
    assert row.payload.records.made_values is None
    batch.values[0][0] = 2
    assert row.payload.records.values == [Row(f0=1)]
    [changed] = sent(NEAR, Types.ROW([Types.INT()]), batch)
    assert isinstance(changed.payload, bytes)


def test_controls_alone() -> None:
    rows = sent(NEAR, Types.LONG(), Batch([]), watermark=3)
    assert [list(read_chunk(row.payload, None)) for row in rows] == [[Watermark(3)], [Watermark(3)]]


def test_its_length_is_about_that_of_its_records() -> None:
    rows = sent(NEAR._replace(take_rows=True), Types.STRING(), Batch(["x" * 1000] * 100), by=ByKey(Itself()))
    assert 90_000 < sum(len(row.payload) for row in rows) < 120_000
