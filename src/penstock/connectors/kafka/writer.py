"""Writes to Kafka as records come: at least once, or without any promise."""

from __future__ import annotations

from penstock.connectors.kafka.producing import KafkaProducing
from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema
from penstock.connectors.kafka.settings import KafkaSettings
from penstock.functions.sink import Records, SinkWriter


class KafkaWriter(SinkWriter):
    """An epoch is complete only when Kafka has all of its records; without a promise, nobody waits for that."""

    def __init__(
        self,
        settings: KafkaSettings,
        schema: KafkaRecordSerializationSchema,
        flushes: bool,
        logs_failures: bool = False,
    ) -> None:
        self._settings = settings
        self._logs_failures = logs_failures
        self._schema = schema
        self._flushes = flushes

    def open(self) -> None:
        self._producing = KafkaProducing(self._settings, "writing", self._logs_failures)

    def write(self, records: Records) -> None:
        self._producing.send(self._schema.messages(records))

    def flush(self, end_of_input: bool) -> None:
        if self._flushes or end_of_input:
            self._producing.flush()
        else:
            self._producing.check()

    def close(self) -> None:
        if hasattr(self, "_producing"):
            self._producing.close()
