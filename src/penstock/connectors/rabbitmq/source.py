"""Messages of a queue as a stream; they are acknowledged when the epoch that has read them is complete."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.arguments import instance
from penstock.connectors.rabbitmq.config import RMQConnectionConfig
from penstock.connectors.reaching import package
from penstock.formats.decoding import decode
from penstock.functions.bad_records import BadRecord, BadRecords
from penstock.functions.source import (
    EnumeratorContext,
    Fetch,
    ReaderContext,
    Source,
    SourceReader,
    Split,
    SplitEnumerator,
)
from penstock.functions.source_sink import SourceFunction

__all__ = ["RMQSource"]

_PREFETCH = 50_000
_WAIT_SECONDS = 0.02
_FIRST_WAIT_SECONDS = 0.1


class RMQSource(SourceFunction):
    """Reads a queue with ``env.add_source``, in one subtask.

    With correlation ids each message is read exactly once: one that the server delivers again, because its
    acknowledgement was lost, is recognised. Without, it is at least once.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema,
    ) -> None:
        super().__init__()
        instance("RMQSource", connection_config, RMQConnectionConfig)
        instance("RMQSource", queue_name, str)
        instance("RMQSource", deserialization_schema, DeserializationSchema)
        self._source = QueueSource(connection_config, queue_name, use_correlation_id, deserialization_schema)

    def set_bad_records(self, bad_records: BadRecords) -> RMQSource:
        """What becomes of messages that cannot be decoded (beyond PyFlink); without a word the job fails."""
        if not isinstance(bad_records, BadRecords):
            raise ProgramError(f"set_bad_records() takes BadRecords.fail(), skip() or to(tag), got {bad_records!r}")
        self._source.bad_records = bad_records
        return self

    def get_produced_type(self) -> TypeInformation | None:
        return self._source.get_produced_type()

    def run(self, ctx: SourceFunction.SourceContext) -> NoReturn:
        raise NotSupportedError("RMQSource is attached as a whole by env.add_source; run is not called.")

    def _as_source(self) -> Source:
        return self._source


class QueueSource(Source):
    """What RMQSource is underneath, for ``env.from_source``."""

    def __init__(
        self, config: RMQConnectionConfig, queue: str, use_correlation_id: bool, schema: DeserializationSchema
    ) -> None:
        super().__init__()
        self._config = config
        self._queue = queue
        self._use_ids = use_correlation_id
        self._schema = schema

    def create_enumerator(self, context: EnumeratorContext) -> SplitEnumerator:
        return QueueEnumerator(self._config, self._queue)

    def create_reader(self, context: ReaderContext) -> SourceReader:
        return QueueReader(self._config, self._queue, self._use_ids, self._schema)

    def get_produced_type(self) -> TypeInformation | None:
        return self._schema.get_produced_type()


@dataclass(frozen=True)
class QueuePosition:
    """What was read and perhaps not acknowledged: up to a number of one connection, and the ids of these messages."""

    session: str = ""
    upto: int = 0
    unacknowledged: int = 0
    ids: frozenset[str] = frozenset()


class QueueEnumerator(SplitEnumerator):
    """One split: a message that comes again may come to anyone who reads the queue."""

    def __init__(self, config: RMQConnectionConfig, queue: str) -> None:
        self._config = config
        self._queue = queue
        self._connection: Any = None

    def discover(self) -> Iterable[Split]:
        return [Split(self._queue, QueuePosition())]

    def has_news(self, positions: Mapping[str, QueuePosition]) -> bool:
        if any(position.unacknowledged for position in positions.values()):
            return True
        try:
            return self._waiting() > 0
        except package("pika.exceptions", "rabbitmq").AMQPError as error:
            if not self._config.recovers:
                raise self._config.lost(error) from None
            self._connection = None
            return self._waiting() > 0

    def _waiting(self) -> int:
        if self._connection is None:
            self._connection, channel = self._config.open_channel(self._queue)
        else:
            channel = self._connection.channel()
        try:
            return int(channel.queue_declare(self._queue, durable=True).method.message_count)
        finally:
            channel.close()

    def close(self) -> None:
        if self._connection is not None and self._connection.is_open:
            self._connection.close()


class QueueReader(SourceReader):
    """Keeps its channel open from epoch to epoch: closing it gives back what is not acknowledged."""

    def __init__(self, config: RMQConnectionConfig, queue: str, use_ids: bool, schema: DeserializationSchema) -> None:
        self._config = config
        self._queue = queue
        self._use_ids = use_ids
        self._schema = schema
        self._split: str | None = None
        self._connection: Any = None
        self._channel: Any = None
        self._consumer: str | None = None
        self._session = ""
        self._arrived: deque[tuple[Any, Any, bytes]] = deque()
        self._read: deque[tuple[int, str | None]] = deque()  # and not acknowledged
        self._known: set[str] = set()  # ids that may come again
        self._told = QueuePosition()  # the last position that was told
        self._connected_before = False

    def add_split(self, split: Split, position: QueuePosition) -> None:
        self._split = split.split_id
        self._known = set(position.ids)
        self._told = position
        self._connect()

    def remove_split(self, split_id: str) -> None:
        self._split = None
        self.close()

    def _connect(self) -> None:
        self.close()
        declare = not self._connected_before or self._config.is_topology_recovery() is not False
        self._connection, self._channel = self._config.open_channel(self._queue, declare)
        self._connected_before = True
        prefetch = self._config.prefetch_count
        self._channel.basic_qos(prefetch_count=_PREFETCH if prefetch is None else prefetch)
        self._session = uuid.uuid4().hex

    def _connect_again(self, error: Exception) -> None:
        if not self._config.recovers:
            raise self._config.lost(error) from None
        self._connect()

    def _on_message(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        self._arrived.append((method, properties, body))

    def fetch(self, max_records: int) -> Fetch | None:
        if self._split is None:
            return None
        errors = package("pika.exceptions", "rabbitmq")
        try:
            if not self._arrived:
                self._receive()
        except errors.AMQPError as error:
            self._connect_again(error)  # what was not acknowledged comes again
        bodies: list[bytes] = []
        while self._arrived and len(bodies) < max_records:
            self._take(*self._arrived.popleft(), bodies)
        position = self._position()
        if not bodies and position == self._told:
            return None
        self._told = position
        decoded = decode(self._schema, bodies)
        bad = [BadRecord(bodies[at], f"queue {self._queue}", reason) for at, reason in decoded.bad]
        return Fetch(self._split, decoded.records, position, bad=bad)

    def _receive(self) -> None:
        """Messages are sent to us only while we ask: what waits with nobody can be seen by the enumerator."""
        if self._consumer is None:
            self._consumer = self._channel.basic_consume(self._queue, self._on_message)
            self._connection.process_data_events(_FIRST_WAIT_SECONDS)
        else:
            self._connection.process_data_events(_WAIT_SECONDS)
        if not self._arrived:
            self._channel.basic_cancel(self._consumer)  # which gives back what came in this moment
            self._consumer = None

    def _take(self, method: Any, properties: Any, body: bytes, bodies: list[bytes]) -> None:
        id_ = properties.correlation_id
        if self._use_ids and id_ is None:
            raise JobExecutionError(
                f"A message of the queue {self._queue!r} has no correlation id, but RMQSource was told to use them. Let"
                " the producer set one for each message, or read without (use_correlation_id=False)."
            )
        self._read.append((method.delivery_tag, id_ if self._use_ids else None))
        if self._use_ids:
            if id_ in self._known:
                return
            self._known.add(id_)
        bodies.append(body)

    def _position(self) -> QueuePosition:
        last = self._read[-1][0] if self._read else 0
        return QueuePosition(self._session, last, len(self._read), frozenset(self._known))

    def on_commit(self, positions: Mapping[str, QueuePosition]) -> None:
        for position in positions.values():
            if position.session == self._session and self._read and position.upto:
                self._acknowledge(position.upto)

    def _acknowledge(self, upto: int) -> None:
        errors = package("pika.exceptions", "rabbitmq")
        try:
            self._channel.basic_ack(upto, multiple=True)
            # Answered when the server has seen what came before: only then may the ids be forgotten.
            self._channel.queue_declare(self._queue, durable=True)
        except errors.AMQPError as error:
            self._connect_again(error)
            return
        while self._read and self._read[0][0] <= upto:
            self._known.discard(self._read.popleft()[1] or "")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._consumer = None
        self._arrived.clear()
        self._read.clear()
        if connection is not None and connection.is_open:
            connection.close()
