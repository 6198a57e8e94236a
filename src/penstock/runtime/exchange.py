"""Sends records to the subtasks of the next operator, and reads what others sent."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import index
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.common.errors import ProgramError
from penstock.functions.base import Function
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch, Codec, Control, EndOfInput, Idleness, Integers, LatencyMarker, Watermark
from penstock.runtime.blueprint import EdgeBlueprint
from penstock.runtime.chunk import ChunkBuilder, Payload
from penstock.runtime.key_columns import owners_of
from penstock.runtime.key_selection import KeySelection
from penstock.runtime.keys import KeyOwners
from penstock.runtime.near_chunk import NearWay
from penstock.runtime.partitioning import (
    Broadcast,
    ByKey,
    Custom,
    Forward,
    Rebalance,
    Rescale,
    Shuffle,
    ToFirst,
)
from penstock.runtime.unhashable_keys import hashable

MAX_SUBTASKS = 1 << 15  # channel = edge * MAX_SUBTASKS + sending subtask
_FIRST_CHUNK_RECORDS = 16  # records may be huge: chunks grow only while they stay small
_CHUNK_BYTES = 4 << 20
REPORT_CHANNEL = -1
_FIRST_SUMMONS_CHANNEL = -1000


class ExchangeRow(NamedTuple):
    """What is carried: never a record, always a chunk for one subtask."""

    subtask: int
    channel: int
    seq: int
    payload: Payload

    @property
    def data(self) -> bytes:
        """The payload of a row that leaves its process, or tells something to the driver."""
        assert isinstance(self.payload, bytes)
        return self.payload


class Neighbours(NamedTuple):
    """Subtasks of the same process, to which records need not go as bytes."""

    subtasks: frozenset[int] = frozenset()
    take_rows: bool = False


NOBODY: Final = Neighbours()


def channel_of(edge_id: int, subtask: int) -> int:
    return edge_id * MAX_SUBTASKS + subtask


def summons_channel(level: int) -> int:
    """On it the driver speaks to the subtasks of a level."""
    return _FIRST_SUMMONS_CHANNEL - level


def edge_of_channel(channel: int) -> int:
    return channel // MAX_SUBTASKS


def codec_of_edge(edge: EdgeBlueprint) -> Codec | None:
    return None if edge.type_info is None else codec_for(edge.type_info)


class ExchangeWriter:
    """Base of the strategies: a chunk under construction for every target subtask."""

    def __init__(
        self,
        edge: EdgeBlueprint,
        subtask: int,
        chunk_records: int,
        send: Callable[[ExchangeRow], None],
        near: Neighbours = NOBODY,
    ) -> None:
        self.edge = edge
        self._subtask = subtask
        self._channel = channel_of(edge.id, subtask)
        self._codec = codec_of_edge(edge)
        self._neighbours = near.subtasks
        self._near: NearWay | None = None
        if near.subtasks and self._codec is not None and edge.type_info is not None:
            self._near = NearWay(edge.type_info, self._codec, near.take_rows)
        self._limit = _FIRST_CHUNK_RECORDS
        self._max_records = chunk_records
        self._send = send
        self._chunks = {target: ChunkBuilder() for target in self.targets(edge, subtask)}
        self._seqs = dict.fromkeys(self._chunks, 0)
        self._records = 0
        self.bytes_sent = 0
        self.prepare()

    def prepare(self) -> None:
        """What a strategy needs besides."""

    @property
    def records_sent(self) -> int:
        """Since the writer was made."""
        return self._records

    @staticmethod
    def targets(edge: EdgeBlueprint, subtask: int) -> range:
        """The subtasks that a sending subtask reaches, and that get its control elements."""
        return range(edge.target_parallelism)

    def functions(self) -> tuple[Function, ...]:
        """The user's functions that this strategy calls: opened and closed with the sending operator."""
        return ()

    def emit(self, batch: Batch) -> None:
        raise NotImplementedError

    def emit_watermark(self, timestamp: int) -> None:
        self._emit_control(Watermark(timestamp))

    def emit_idleness(self, idle: bool) -> None:
        self._emit_control(Idleness(idle))

    def emit_latency(self, marker: LatencyMarker) -> None:
        self._emit_control(marker)

    def end(self) -> None:
        self._emit_control(EndOfInput())

    def _emit_control(self, control: Control) -> None:
        for chunk in self._chunks.values():
            chunk.add_control(control)

    def put(self, target: int, batch: Batch) -> None:
        """Appends records to the chunk of a target and sends the chunk when it is full."""
        chunk, count = self._chunks[target], len(batch)
        self._records += count
        if count < self._limit - chunk.length:
            chunk.add(batch)
            return
        start = 0
        while start < count:
            end = min(count, start + max(1, self._limit - chunk.length))
            chunk.add(batch.slice(start, end))
            if chunk.length >= self._limit:
                self._send_chunk(target, chunk)
            start = end

    def flush(self) -> None:
        """Sends what is left at the end of an epoch."""
        for target, chunk in self._chunks.items():
            if chunk:
                self._send_chunk(target, chunk)
        self._seqs = dict.fromkeys(self._chunks, 0)

    def _send_chunk(self, target: int, chunk: ChunkBuilder) -> None:
        near = None if self._near is None or target not in self._neighbours else chunk.take_near(self._near)
        payload: Payload = chunk.take(self._codec) if near is None else near
        self.bytes_sent += len(payload)
        self._send(ExchangeRow(target, self._channel, self._seqs[target], payload))
        self._seqs[target] += 1
        if len(payload) < _CHUNK_BYTES // 4:
            self._limit = min(self._max_records, self._limit * 4)
        elif len(payload) > _CHUNK_BYTES:
            self._limit = max(1, self._limit * _CHUNK_BYTES // len(payload))

    def snapshot(self) -> Any:
        """What the strategy remembers between epochs; None for nothing."""
        return None

    def restore(self, snapshot: Any) -> None:
        pass


class ForwardWriter(ExchangeWriter):
    @staticmethod
    def targets(edge: EdgeBlueprint, subtask: int) -> range:
        return range(subtask, subtask + 1)

    def emit(self, batch: Batch) -> None:
        self.put(self._subtask, batch)


class FirstWriter(ExchangeWriter):
    def emit(self, batch: Batch) -> None:
        self.put(0, batch.keyed(None))


class BroadcastWriter(ExchangeWriter):
    @property
    def records_sent(self) -> int:
        """Once, whoever gets them."""
        return self._records // len(self._chunks)

    def emit(self, batch: Batch) -> None:
        for target in self._chunks:
            self.put(target, batch.keyed(None))


class RoundRobinWriter(ExchangeWriter):
    """Rebalance, and within its share of the targets rescale."""

    def prepare(self) -> None:
        self._targets = list(self._chunks)
        self._next = self._subtask % len(self._targets)

    def emit(self, batch: Batch) -> None:
        count, width, unkeyed = len(batch), len(self._targets), batch.keyed(None)
        for offset in range(min(width, count)):
            self.put(self._targets[(self._next + offset) % width], unkeyed.every(width, offset))
        self._next = (self._next + count) % width

    def snapshot(self) -> Any:
        return self._next

    def restore(self, snapshot: Any) -> None:
        self._next = snapshot


class RescaleWriter(RoundRobinWriter):
    @staticmethod
    def targets(edge: EdgeBlueprint, subtask: int) -> range:
        senders, receivers = edge.source_parallelism, edge.target_parallelism
        if receivers < senders:
            own = subtask * receivers // senders
            return range(own, own + 1)
        return range(subtask * receivers // senders, (subtask + 1) * receivers // senders)


class ScatterWriter(ExchangeWriter):
    """Strategies that pick a target for each record."""

    def emit(self, batch: Batch) -> None:
        self.scatter(batch.keyed(None), np.asarray(self.targets_of(batch)))

    def targets_of(self, batch: Batch) -> list[int]:
        raise NotImplementedError

    def scatter(self, batch: Batch, targets: Integers) -> None:
        for target in range(self.edge.target_parallelism):
            chosen = np.flatnonzero(targets == target)
            if len(chosen) == len(batch):
                self.put(target, batch)
            elif len(chosen):
                self.put(target, batch.take(chosen))


class RandomWriter(ScatterWriter):
    def targets_of(self, batch: Batch) -> list[int]:
        return random.choices(range(self.edge.target_parallelism), k=len(batch))


class CustomWriter(ScatterWriter):
    def functions(self) -> tuple[Function, ...]:
        assert isinstance(self.edge.partitioning, Custom)
        return self.edge.partitioning.partitioner, self.edge.partitioning.selector

    def targets_of(self, batch: Batch) -> list[int]:
        partitioning = self.edge.partitioning
        assert isinstance(partitioning, Custom)
        width = self.edge.target_parallelism
        keys = map(partitioning.selector.get_key, batch.values)
        targets = [index(partitioning.partitioner.partition(key, width)) for key in keys]
        for target in targets:
            if not 0 <= target < width:
                raise ProgramError(
                    f"the partitioner returned {target}, but the operator after it has the subtasks 0 to {width - 1}"
                )
        return targets


class KeyWriter(ScatterWriter):
    """Sends each record, with its key, to the subtask that owns the key."""

    def prepare(self) -> None:
        partitioning = self.edge.partitioning
        assert isinstance(partitioning, ByKey)
        self._selection = KeySelection(partitioning.selector, partitioning.key_type)
        self._owners = KeyOwners(self.edge.target_parallelism, self.edge.target_max_parallelism)

    def functions(self) -> tuple[Function, ...]:
        assert isinstance(self.edge.partitioning, ByKey)
        return (self.edge.partitioning.selector,)

    def emit(self, batch: Batch) -> None:
        keys = self._selection.keys_of(batch)
        if isinstance(keys, pa.Array):
            owners = owners_of(keys, self.edge.target_parallelism, self.edge.target_max_parallelism)
        else:
            try:
                keys, owners = self._owned(self._selection.declared(keys))
            except TypeError:
                keys, owners = self._with_hashable_keys(keys)
        self.scatter(batch.keyed(keys), owners)

    def _owned(self, keys: list[Any]) -> tuple[list[Any], Integers]:
        return keys, np.fromiter(map(self._owners.__getitem__, keys), np.int64, len(keys))

    def _with_hashable_keys(self, keys: list[Any]) -> tuple[list[Any], Integers]:
        try:
            declared = self._selection.declared(list(map(hashable, keys)))
            return self._owned(list(map(hashable, declared)))
        except TypeError as error:
            raise ProgramError(f"key_by() got a key that cannot be one: {error}") from error


WRITERS: dict[type, type[ExchangeWriter]] = {
    Forward: ForwardWriter,
    Rebalance: RoundRobinWriter,
    Rescale: RescaleWriter,
    Shuffle: RandomWriter,
    Broadcast: BroadcastWriter,
    ToFirst: FirstWriter,
    ByKey: KeyWriter,
    Custom: CustomWriter,
}


def writer_for(
    edge: EdgeBlueprint,
    subtask: int,
    chunk_records: int,
    send: Callable[[ExchangeRow], None],
    near: Neighbours = NOBODY,
) -> ExchangeWriter:
    return WRITERS[type(edge.partitioning)](edge, subtask, chunk_records, send, near)


def senders_to(edge: EdgeBlueprint, subtask: int) -> list[int]:
    """The sending subtasks whose channels lead to a receiving one."""
    targets = WRITERS[type(edge.partitioning)].targets
    return [sender for sender in range(edge.source_parallelism) if subtask in targets(edge, sender)]


def receivers_from(edge: EdgeBlueprint, subtask: int) -> range:
    """The receiving subtasks to which the channels of a sending one lead."""
    return WRITERS[type(edge.partitioning)].targets(edge, subtask)
