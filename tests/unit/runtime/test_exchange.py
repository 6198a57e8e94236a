"""Which subtask an exchange sends each record to, and in which order it arrives."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.runtime.blueprints import edge

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, EndOfInput, Idleness, Watermark
from penstock.runtime.blueprint import EdgeBlueprint
from penstock.runtime.chunk import read_chunk
from penstock.runtime.exchange import (
    ExchangeRow,
    ExchangeWriter,
    channel_of,
    codec_of_edge,
    edge_of_channel,
    senders_to,
    writer_for,
)
from penstock.runtime.partitioning import (
    Broadcast,
    ByKey,
    Custom,
    Forward,
    Partitioning,
    Rebalance,
    Rescale,
    Shuffle,
    ToFirst,
)


class Selector:
    def get_key(self, value: Any) -> Any:
        return value % 10


class Modulo:
    def partition(self, key: Any, count: int) -> int:
        return int(key) % count


class OutOfRange:
    def partition(self, key: Any, count: int) -> int:
        return count


class Wire:
    """A writer, and what arrives at each target."""

    def __init__(self, plan: EdgeBlueprint, subtask: int = 0, chunk_records: int = 1000) -> None:
        self.rows: list[ExchangeRow] = []
        self.plan = plan
        self.writer: ExchangeWriter = writer_for(plan, subtask, chunk_records, self.rows.append)

    def send(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self.writer.emit(Batch(values, timestamps))

    def arrived(self) -> dict[int, list[Any]]:
        """Values and control elements by target, in the order of the channel."""
        self.writer.flush()
        result: dict[int, list[Any]] = defaultdict(list)
        for row in sorted(self.rows, key=lambda row: row.seq):
            for element in read_chunk(row.payload, codec_of_edge(self.plan)):
                result[row.subtask] += element.values if isinstance(element, Batch) else [element]
        return dict(result)


ALL: list[Partitioning] = [
    Rebalance(),
    Rescale(),
    Shuffle(),
    Broadcast(),
    ToFirst(),
    ByKey(Selector()),
    Custom(Modulo(), Selector()),
]


def test_forward_stays_on_the_subtask() -> None:
    wire = Wire(edge(Forward(), 3, 3), subtask=2)
    wire.send([1, 2, 3])
    assert wire.arrived() == {2: [1, 2, 3]}


def test_rebalance_goes_round_across_batches() -> None:
    wire = Wire(edge(Rebalance(), 1, 3))
    wire.send([0, 1])
    wire.send([2, 3, 4, 5, 6])
    assert wire.arrived() == {0: [0, 3, 6], 1: [1, 4], 2: [2, 5]}


def test_rebalance_goes_on_where_the_snapshot_was_taken() -> None:
    first = Wire(edge(Rebalance(), 1, 3))
    first.send([0, 1])
    second = Wire(edge(Rebalance(), 1, 3))
    second.writer.restore(first.writer.snapshot())
    second.send([2, 3])
    assert second.arrived() == {2: [2], 0: [3]}


def test_broadcast_reaches_all_and_global_the_first() -> None:
    everywhere, first = Wire(edge(Broadcast(), 1, 3)), Wire(edge(ToFirst(), 1, 3))
    everywhere.send([1, 2])
    first.send([1, 2])
    assert everywhere.arrived() == {0: [1, 2], 1: [1, 2], 2: [1, 2]}
    assert first.arrived() == {0: [1, 2]}


def test_shuffle_loses_nothing_and_uses_all_targets() -> None:
    wire = Wire(edge(Shuffle(), 1, 4))
    wire.send(list(range(1000)))
    arrived = wire.arrived()
    assert sorted(sum(arrived.values(), [])) == list(range(1000))
    assert len(arrived) == 4


def test_custom_partitioner_decides() -> None:
    wire = Wire(edge(Custom(Modulo(), Selector()), 1, 2))
    wire.send([1, 2, 13, 24])
    assert wire.arrived() == {0: [2, 24], 1: [1, 13]}


def test_custom_partitioner_out_of_range_is_an_error_that_names_the_range() -> None:
    wire = Wire(edge(Custom(OutOfRange(), Selector()), 1, 2))
    with pytest.raises(ProgramError, match="returned 2, but .* subtasks 0 to 1"):
        wire.send([1])


@pytest.mark.parametrize(("senders", "receivers"), [(2, 4), (4, 2), (2, 3), (3, 2), (5, 3), (3, 7), (1, 4), (4, 1)])
def test_rescale_reaches_every_receiver_from_neighbours_only(senders: int, receivers: int) -> None:
    plan = edge(Rescale(), senders, receivers)
    targets = {sender: list(Wire(plan, sender).writer.targets(plan, sender)) for sender in range(senders)}
    assert set(sum(targets.values(), [])) == set(range(receivers)), "a receiver gets nothing"
    assert all(targets.values()), "a sender has nowhere to go"
    if receivers >= senders:
        assert len(sum(targets.values(), [])) == receivers, "two senders share a receiver"
    else:
        assert all(len(own) == 1 for own in targets.values())
    for receiver in range(receivers):
        assert senders_to(plan, receiver) == [sender for sender in range(senders) if receiver in targets[sender]]


def test_keys_have_one_owner_whoever_sends() -> None:
    plan = edge(ByKey(Selector()), 2, 4)
    owners: dict[int, set[int]] = defaultdict(set)
    for sender in range(2):
        wire = Wire(plan, sender)
        wire.send(list(range(200)))
        for target, values in wire.arrived().items():
            for value in values:
                owners[value % 10].add(target)
    assert all(len(targets) == 1 for targets in owners.values())
    assert len(set.union(*owners.values())) > 1


def test_keys_travel_with_their_records() -> None:
    rows: list[ExchangeRow] = []
    plan = edge(ByKey(Selector()), 1, 1)
    writer = writer_for(plan, 0, 1000, rows.append)
    writer.emit(Batch([11, 22], [5, 6]))
    writer.flush()
    [batch] = read_chunk(rows[0].payload, None)
    assert isinstance(batch, Batch)
    assert (batch.values, batch.timestamps, batch.keys) == ([11, 22], [5, 6], [1, 2])


def test_declared_key_type_is_enforced() -> None:
    wire = Wire(edge(ByKey(Selector(), Types.STRING()), 1, 2))
    with pytest.raises(ProgramError, match="key"):
        wire.send([1])


@given(
    st.sampled_from(ALL),
    st.integers(1, 4),
    st.lists(st.lists(st.integers(0, 1000), max_size=20), max_size=8),
    st.integers(1, 40),
)
def test_order_is_kept_on_every_channel_and_controls_reach_all(
    partitioning: Partitioning, receivers: int, batches: list[list[int]], chunk_records: int
) -> None:
    wire = Wire(edge(partitioning, 1, receivers), chunk_records=chunk_records)
    numbered, position = [], 0
    for batch in batches:
        numbered.append([position + i for i in range(len(batch))])
        position += len(batch)
    for number, values in enumerate(numbered):
        wire.send(values)
        wire.writer.emit_watermark(number)
    wire.writer.emit_idleness(True)
    wire.writer.end()
    arrived = wire.arrived()
    controls = [*(Watermark(number) for number in range(len(batches))), Idleness(True), EndOfInput()]
    assert set(arrived) == set(range(receivers))
    for elements in arrived.values():
        values = [element for element in elements if isinstance(element, int)]
        assert values == sorted(values)
        assert [element for element in elements if not isinstance(element, int)] == controls
        for value in values:
            batch_number = next(n for n, batch in enumerate(numbered) if value in batch)
            if batch_number > 0:
                assert elements.index(Watermark(batch_number - 1)) < elements.index(value)
            assert elements.index(value) < elements.index(Watermark(batch_number))
    copies = receivers if isinstance(partitioning, Broadcast) else 1
    assert sum(isinstance(e, int) for elements in arrived.values() for e in elements) == position * copies


def test_large_records_are_sent_in_small_chunks() -> None:
    wire = Wire(edge(Forward(), 1, 1), chunk_records=32_768)
    for _ in range(64):
        wire.send([b"x" * 1_000_000])
    wire.writer.flush()
    assert max(len(row.payload) for row in wire.rows) < 20_000_000


def test_records_without_timestamps_beside_some_with() -> None:
    rows: list[ExchangeRow] = []
    plan = edge(Forward(), 1, 1)
    writer = writer_for(plan, 0, 1000, rows.append)
    writer.emit(Batch([1]))
    writer.emit(Batch([2], [7]))
    writer.emit(Batch([3]))
    writer.flush()
    [batch] = read_chunk(rows[0].payload, None)
    assert isinstance(batch, Batch)
    assert batch.timestamps == [MIN_TIMESTAMP, 7, MIN_TIMESTAMP]


@given(st.integers(0, 10_000), st.integers(0, (1 << 15) - 1))
def test_channel_numbers_can_be_taken_apart(edge_id: int, subtask: int) -> None:
    assert edge_of_channel(channel_of(edge_id, subtask)) == edge_id


def test_sequence_numbers_start_anew_with_each_epoch() -> None:
    wire = Wire(edge(Forward(), 1, 1), chunk_records=1)
    wire.send([1, 2])
    wire.writer.flush()
    wire.send([3])
    wire.writer.flush()
    assert [row.seq for row in wire.rows][-1] == 0
