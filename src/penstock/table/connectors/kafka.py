"""Tables of Kafka topics: kafka, whose messages are added or carry changes, and upsert-kafka, whose keys are rows."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.kafka.offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from penstock.connectors.kafka.sink import KafkaSink
from penstock.connectors.kafka.source import KafkaSource, KafkaSourceBuilder
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink, TableSource
from penstock.table.connectors.kafka_messages import MessagesOfTable, TableOfMessages, layout_of
from penstock.table.formats.registry import FORMATS, format_of

_RESETS = {strategy.name.lower(): strategy for strategy in KafkaOffsetResetStrategy}


class KafkaConnector(TableConnector):
    """Reads and writes topics; with a format of changes also updates and deletions."""

    name = "kafka"
    options: tuple[str, ...] = (
        "topic", "topic-pattern", "format", "key.format", "key.fields", "key.fields-prefix", "value.format",
        "value.fields-include", "scan.startup.mode", "scan.startup.specific-offsets", "scan.startup.timestamp-millis",
        "scan.bounded.mode", "scan.bounded.specific-offsets", "scan.bounded.timestamp-millis",
        "scan.topic-partition-discovery.interval", "scan.parallelism", "sink.parallelism", "sink.partitioner",
        "sink.delivery-guarantee", "sink.transactional-id-prefix",
    )  # fmt: skip
    prefixes = ("properties.", "key.", "value.", *(f"{name}." for name in FORMATS))
    metadata_keys = ("topic", "partition", "offset", "timestamp", "timestamp-type", "headers")
    keyed = False

    def changelog(self, table: ConnectorTable) -> str:
        return format_of(table, _value_key(table))[0].changelog

    def accepts(self, table: ConnectorTable) -> str:
        return self.changelog(table)

    def source(self, table: ConnectorTable) -> TableSource:
        builder = KafkaSource.builder()
        for key, value in table.prefixed("properties.").items():
            builder.set_property(key, value)
        if "topic-pattern" in table.options:
            builder.set_topic_pattern(table.text("topic-pattern"))
        else:
            builder.set_topics(*_topics(table))
        if table.millis("scan.topic-partition-discovery.interval") is not None:
            interval = table.millis("scan.topic-partition-discovery.interval")
            builder.set_property("partition.discovery.interval.ms", str(interval))
        builder.set_starting_offsets(self._starting(table))
        self._set_end(builder, table)
        builder.set_deserializer(TableOfMessages(table.row_type, layout_of(table, _value_key(table), self.keyed)))
        return TableSource(builder.build(), table.name, table.number("scan.parallelism", 0) or None)

    def _starting(self, table: ConnectorTable) -> KafkaOffsetsInitializer:
        return offsets_of(table, "scan.startup", table.options.get("scan.startup.mode", "group-offsets"))

    def _set_end(self, builder: KafkaSourceBuilder, table: ConnectorTable) -> None:
        mode = table.options.get("scan.bounded.mode", "unbounded")
        if mode != "unbounded":
            builder.set_bounded(offsets_of(table, "scan.bounded", mode))
        elif table.bounded:
            raise ProgramError(f"The table {table.name} never ends: give 'scan.bounded.mode' in batch mode.")

    def sink(self, table: ConnectorTable) -> TableSink:
        topics = _topics(table)
        if len(topics) != 1:
            raise NotSupportedError(f"The table {table.name} names {len(topics)} topics: rows are written into one.")
        partitioner = table.options.get("sink.partitioner", "default")
        if partitioner != "default":
            raise NotSupportedError(
                f"'sink.partitioner' = '{partitioner}' of {table.name} is not there: use default, by the message's key,"
                " or leave it out."
            )
        messages = MessagesOfTable(topics[0], table.row_type, layout_of(table, _value_key(table), self.keyed))
        builder = KafkaSink.builder().set_record_serializer(messages)
        for key, value in table.prefixed("properties.").items():
            builder.set_property(key, value)
        chosen = table.chosen("sink.delivery-guarantee", ("none", "at-least-once", "exactly-once"), "at-least-once")
        builder.set_delivery_guarantee(DeliveryGuarantee[chosen.upper().replace("-", "_")])
        if "sink.transactional-id-prefix" in table.options:
            builder.set_transactional_id_prefix(table.text("sink.transactional-id-prefix"))
        return TableSink(builder.build(), table.name, table.number("sink.parallelism", 0) or None)


class UpsertKafkaConnector(KafkaConnector):
    """A topic as a table of its last messages by key; a message without value deletes the row."""

    name = "upsert-kafka"
    options = (
        "topic", "key.format", "key.fields-prefix", "value.format", "value.fields-include", "scan.bounded.mode",
        "scan.bounded.specific-offsets", "scan.bounded.timestamp-millis", "scan.parallelism", "sink.parallelism",
        "sink.delivery-guarantee", "sink.transactional-id-prefix",
    )  # fmt: skip
    keyed = True

    def upserts(self, table: ConnectorTable) -> bool:
        return True

    def changelog(self, table: ConnectorTable) -> str:
        return "IUD"

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD"

    def by_key(self, table: ConnectorTable) -> bool:
        return True

    def check(self, table: ConnectorTable) -> None:
        super().check(table)
        if not table.primary_key:
            raise ProgramError(f"The table {table.name} of upsert-kafka needs a PRIMARY KEY .. NOT ENFORCED.")
        for key in ("key.format", "value.format"):
            if format_of(table, key)[0].changelog != "I":
                raise ProgramError(f"'{key}' of {table.name} cannot be a format of changes.")

    def _starting(self, table: ConnectorTable) -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer.earliest()


def _value_key(table: ConnectorTable) -> str:
    return "value.format" if "value.format" in table.options else "format"


def _topics(table: ConnectorTable) -> list[str]:
    return [topic.strip() for topic in table.text("topic").split(";") if topic.strip()]


def offsets_of(table: ConnectorTable, prefix: str, mode: str) -> KafkaOffsetsInitializer:
    """`earliest-offset`, `latest-offset`, `group-offsets`, `timestamp` or `specific-offsets`."""
    match mode:
        case "earliest-offset":
            return KafkaOffsetsInitializer.earliest()
        case "latest-offset":
            return KafkaOffsetsInitializer.latest()
        case "group-offsets":
            reset = table.options.get("properties.auto.offset.reset", "none")
            return KafkaOffsetsInitializer.committed_offsets(_RESETS.get(reset, KafkaOffsetResetStrategy.NONE))
        case "timestamp":
            return KafkaOffsetsInitializer.timestamp(int(table.text(f"{prefix}.timestamp-millis")))
        case "specific-offsets":
            return KafkaOffsetsInitializer.offsets(_specific(table, f"{prefix}.specific-offsets"))
    raise ProgramError(
        f"'{prefix}.mode' of {table.name} is '{mode}', but can be earliest-offset, latest-offset, group-offsets,"
        " timestamp or specific-offsets."
    )


def _specific(table: ConnectorTable, key: str) -> dict[KafkaTopicPartition, int]:
    """`partition:0,offset:42;partition:1,offset:300`."""
    [topic] = _topics(table)
    found = {}
    for part in table.text(key).split(";"):
        pairs = dict(item.split(":", 1) for item in part.split(","))
        found[KafkaTopicPartition(topic, int(pairs["partition"]))] = int(pairs["offset"])
    return found
