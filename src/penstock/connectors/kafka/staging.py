"""Exactly once, the workers' half: what shall go to Kafka is staged, and produced once its epoch is recorded.

A small epoch is left to the committer on the driver: one transaction for all subtasks, at once. Of a large one each
writer produces its own part, while it works on the next epoch; that one is not complete before Kafka has the former.
So what a record does not name any more is in Kafka, and what it names can be produced by whoever comes next.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import threading
import uuid
from dataclasses import replace
from typing import Any

from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema, Messages
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.transactions import TransactionLane
from penstock.functions.sink import Records, SinkWriter
from penstock.storage import storage_at

_SMALL_BYTES = 256 << 10  # so much of an epoch travels with its record, and is the committer's
_PART_BYTES = 16 << 20


class StagingWriter(SinkWriter):
    """Keeps messages as bytes; large epochs go to files of the job, and by its own lane to Kafka."""

    def __init__(
        self,
        schema: KafkaRecordSerializationSchema,
        directory: str | None,
        lane_id: str,
        lane: TransactionLane,
    ) -> None:
        self._schema = schema
        self._directory = directory
        self._lane_id = lane_id
        self._lane = lane
        self._pieces: list[bytes] = []
        self._bytes = self._epoch_bytes = 0
        self._first_topic = ""
        self._parts: list[StagedPart] = []
        self._waiting: list[StagedPart] = []  # left to this writer, and it has not heard yet
        self._leaves = False  # this epoch is the last one that this job sees
        self._producing: _Producing | None = None

    # -- staging -----------------------------------------------------------------------------------------------

    def write(self, records: Records) -> None:
        messages = self._schema.messages(records)
        if not messages.values:
            return
        if not self._pieces:
            self._first_topic = messages.topics if isinstance(messages.topics, str) else messages.topics[0]
        piece = _pickled(messages)
        self._pieces.append(piece)
        self._bytes += len(piece)
        if self._bytes >= _PART_BYTES:
            self._end_part()

    def flush(self, end_of_input: bool) -> None:
        if self._pieces:
            self._end_part()
        if self._producing is not None:
            self._producing.finish()
            self._producing = None

    def _end_part(self) -> None:
        part_id = uuid.uuid4().hex
        in_file = self._directory is not None and self._bytes > _SMALL_BYTES
        if in_file:
            assert self._directory is not None
            storage_at(self._directory).write(part_id, b"".join(self._pieces))
        self._parts.append(StagedPart(part_id, self._first_topic, None if in_file else tuple(self._pieces)))
        self._epoch_bytes += self._bytes
        self._pieces, self._bytes = [], 0

    # -- producing ---------------------------------------------------------------------------------------------

    def prepare_commit(self) -> list[StagedPart]:
        """What was not heard of since the epoch before is prepared once more."""
        parts, self._parts = self._parts, []
        unheard, self._waiting = self._waiting, []
        large, self._epoch_bytes = self._epoch_bytes > _SMALL_BYTES, 0
        if self._leaves:
            self._leaves = False
            return [replace(part, left_to_writer=False) for part in unheard] + parts
        if large or unheard:
            group = uuid.uuid4().hex
            own = [replace(part, lane=self._lane_id, group=group, left_to_writer=True) for part in parts]
            self._waiting = unheard + own
            return list(self._waiting)
        return parts

    def before_savepoint(self) -> None:
        self._leaves = True

    def snapshot_state(self) -> Any:
        return list(self._waiting)

    def restore_state(self, states: list[Any]) -> None:
        self._waiting = [part for waiting in states for part in waiting or ()]

    def awaits_commit(self, prepared: list[Any]) -> bool:
        return bool(self._waiting)

    def on_commit(self, epoch: int) -> None:
        waiting, self._waiting = self._waiting, []
        self._producing = _Producing(self._lane, epoch, waiting)

    def close(self) -> None:
        """What is being produced may be: its epoch is committed. Who takes this one's place fences it or finds it."""
        if self._producing is None:
            self._lane.close()
        else:
            self._producing.abandon()


def _pickled(messages: Messages) -> bytes:
    """Without the memo, which takes half of the time: no message stands in it twice because it is the same object."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True
    pickler.dump(messages)
    return buffer.getvalue()


class _Producing:
    """A transaction under way, beside the work on the next epoch."""

    def __init__(self, lane: TransactionLane, epoch: int, parts: list[StagedPart]) -> None:
        self._lane = lane
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._ended = self._abandoned = False
        self._thread = threading.Thread(target=self._run, args=(epoch, parts), name="kafka-transaction", daemon=True)
        self._thread.start()

    def _run(self, epoch: int, parts: list[StagedPart]) -> None:
        try:
            self._lane.commit_groups(epoch, parts)
        except BaseException as error:
            self._error = error
        with self._lock:
            self._ended = True
            if self._abandoned:
                self._close()

    def finish(self) -> None:
        self._thread.join()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """The lane is closed by whoever is later."""
        with self._lock:
            self._abandoned = True
            if self._ended:
                self._close()

    def _close(self) -> None:
        with contextlib.suppress(Exception):
            self._lane.close()
