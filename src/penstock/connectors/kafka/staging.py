"""Exactly once, the workers' half: what shall go to Kafka is durable before the epoch is, and Kafka sees none of it."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema, Messages
from penstock.functions.sink import Records, SinkWriter
from penstock.storage import storage_at

_INLINE_BYTES = 256 << 10  # so much travels with the epoch's record, and needs no file
_PART_BYTES = 16 << 20


@dataclass(frozen=True)
class StagedPart:
    """Messages of one subtask, in their order. No two parts have the same id, whoever stages them."""

    part_id: str
    first_topic: str
    content: tuple[bytes, ...] | None  # None: it is in the file named by the id

    def messages(self, directory: str | None) -> Iterator[Messages]:
        if self.content is not None:
            yield from map(pickle.loads, self.content)
            return
        assert directory is not None
        with storage_at(directory).open(self.part_id) as file:
            while True:
                try:
                    yield pickle.load(file)
                except EOFError:
                    return


class StagingWriter(SinkWriter):
    """Keeps messages as bytes; large epochs go to files of the job."""

    def __init__(self, schema: KafkaRecordSerializationSchema, directory: str | None) -> None:
        self._schema = schema
        self._directory = directory
        self._pieces: list[bytes] = []
        self._bytes = 0
        self._first_topic = ""
        self._parts: list[StagedPart] = []

    def write(self, records: Records) -> None:
        messages = self._schema.messages(records)
        if not messages.values:
            return
        if not self._pieces:
            self._first_topic = messages.topics if isinstance(messages.topics, str) else messages.topics[0]
        piece = pickle.dumps(messages, protocol=5)
        self._pieces.append(piece)
        self._bytes += len(piece)
        if self._bytes >= _PART_BYTES:
            self._end_part()

    def flush(self, end_of_input: bool) -> None:
        if self._pieces:
            self._end_part()

    def _end_part(self) -> None:
        part_id = uuid.uuid4().hex
        in_file = self._directory is not None and self._bytes > _INLINE_BYTES
        if in_file:
            assert self._directory is not None
            storage_at(self._directory).write(part_id, b"".join(self._pieces))
        self._parts.append(StagedPart(part_id, self._first_topic, None if in_file else tuple(self._pieces)))
        self._pieces, self._bytes = [], 0

    def prepare_commit(self) -> list[StagedPart]:
        parts, self._parts = self._parts, []
        return parts
