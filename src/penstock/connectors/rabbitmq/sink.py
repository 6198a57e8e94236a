"""A stream into a queue of RabbitMQ."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common.errors import NotSupportedError
from penstock.common.serialization import SerializationSchema
from penstock.connectors.arguments import instance
from penstock.connectors.rabbitmq.config import RMQConnectionConfig
from penstock.connectors.reaching import package, reach
from penstock.functions.sink import Records, Sink, SinkWriter, WriterContext
from penstock.functions.source_sink import SinkFunction

__all__ = ["RMQSink"]

_AT_ONCE = 1_000
_RETRIES = 3


class RMQSink(SinkFunction):
    """Writes to a durable queue with ``ds.add_sink``. At least once: an epoch ends when its messages are there."""

    def __init__(
        self, connection_config: RMQConnectionConfig, queue_name: str, serialization_schema: SerializationSchema
    ) -> None:
        super().__init__()
        instance("RMQSink", connection_config, RMQConnectionConfig)
        instance("RMQSink", queue_name, str)
        instance("RMQSink", serialization_schema, SerializationSchema)
        self._sink = QueueSink(connection_config, queue_name, serialization_schema)

    def invoke(self, value: Any, context: SinkFunction.Context) -> NoReturn:
        raise NotSupportedError("RMQSink is attached as a whole by ds.add_sink; invoke is not called.")

    def _as_sink(self) -> Sink:
        return self._sink


class QueueSink(Sink):
    """What RMQSink is underneath, for ``ds.sink_to``."""

    def __init__(self, config: RMQConnectionConfig, queue: str, schema: SerializationSchema) -> None:
        super().__init__()
        self._config = config
        self._queue = queue
        self._schema = schema

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return QueueWriter(self._config, self._queue, self._schema)


class QueueWriter(SinkWriter):
    """Publishes in transactions of the channel's: the answer to a commit says that all messages are in the queue."""

    def __init__(self, config: RMQConnectionConfig, queue: str, schema: SerializationSchema) -> None:
        self._config = config
        self._queue = queue
        self._schema = schema
        self._connection: Any = None
        self._channel: Any = None
        self._waiting: list[bytes] = []
        self._connected_before = False

    def write(self, records: Records) -> None:
        self._waiting += self._schema._serialize_all(records.values)
        while len(self._waiting) >= _AT_ONCE:
            self._publish(self._waiting[:_AT_ONCE])
            del self._waiting[:_AT_ONCE]

    def flush(self, end_of_input: bool) -> None:
        if self._waiting:
            self._publish(self._waiting)
        self._waiting = []

    def _publish(self, bodies: list[bytes]) -> None:
        durable = package("pika", "rabbitmq").BasicProperties(delivery_mode=2)
        errors = package("pika.exceptions", "rabbitmq")

        def publish() -> None:
            try:
                channel = self._open_channel()
                for body in bodies:
                    channel.basic_publish("", self._queue, body, durable)
                channel.tx_commit()
            except errors.AMQPError:
                self.close()
                raise

        retries = _RETRIES if self._config.recovers else 0
        reach(self._config.place, publish, self._config.is_away, retries, self._config.secrets)

    def _open_channel(self) -> Any:
        if self._connection is None:
            declare = not self._connected_before or self._config.is_topology_recovery() is not False
            self._connection, self._channel = self._config.open_channel(self._queue, declare)
            self._connected_before = True
            self._channel.tx_select()
        return self._channel

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and connection.is_open:
            connection.close()
