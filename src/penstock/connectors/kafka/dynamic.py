"""DynamicKafkaSource: streams by name, wherever a metadata service says that they are just now."""

from __future__ import annotations

import logging
import re
import time
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.common.utils import refuse_java_object
from penstock.connectors.kafka.cluster import KafkaCluster
from penstock.connectors.kafka.enumerator import KafkaEnumerator, KafkaSplit
from penstock.connectors.kafka.offsets import KafkaOffsetsInitializer
from penstock.connectors.kafka.reader import KafkaReader
from penstock.connectors.kafka.records import KafkaRecordDeserializationSchema
from penstock.connectors.kafka.settings import DISCOVERY_INTERVAL, KafkaSettings
from penstock.connectors.kafka.source import check_client, checked_initializer
from penstock.connectors.kafka.subscription import Subscription
from penstock.functions.source import (
    EnumeratorContext,
    Fetch,
    ReaderContext,
    Source,
    SourceReader,
    Split,
    SplitEnumerator,
)

__all__ = [
    "ClusterMetadata",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "KafkaMetadataService",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "SingleClusterTopicMetadataService",
    "StreamPatternSubscriber",
]

# Settings of this source alone, which no cluster's client may see.
METADATA_INTERVAL = "stream-metadata-discovery-interval-ms"
FAILURE_THRESHOLD = "stream-metadata-discovery-failure-threshold"
_logger = logging.getLogger("penstock.kafka")
_AT = "@"  # between the cluster and the partition in the id of a split


@dataclass(frozen=True)
class ClusterMetadata:
    """The part of a stream that lies in one cluster."""

    topics: frozenset[str]
    properties: Mapping[str, str]


Streams = dict[str, dict[str, ClusterMetadata]]  # by stream and cluster
Clusters = dict[str, tuple[KafkaSettings, frozenset[str]]]  # by id: how each is reached, and the topics to read there


class KafkaMetadataService:
    """Says which clusters and topics a stream has. Subclass it in Python; it is pickled, and asked again and again."""

    def __init__(self, j_metadata_service: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_metadata_service", j_metadata_service, "Write a subclass in Python.")

    @abstractmethod
    def get_all_streams(self) -> list[str]:
        """The names of all streams."""
        raise NotImplementedError

    @abstractmethod
    def describe_streams(self, stream_ids: list[str]) -> Streams:
        """Of each stream its clusters, by their ids."""
        raise NotImplementedError


class SingleClusterTopicMetadataService(KafkaMetadataService):
    """One cluster, in which each topic is a stream of the same name."""

    def __init__(self, kafka_cluster_id: str, properties: dict[str, str]) -> None:
        super().__init__()
        self._cluster_id = kafka_cluster_id
        self._properties = dict(properties)

    def get_all_streams(self) -> list[str]:
        cluster = KafkaCluster(KafkaSettings(self._properties), "looking for streams")
        try:
            return sorted(cluster.metadata().topics)
        finally:
            cluster.close()

    def describe_streams(self, stream_ids: list[str]) -> Streams:
        return {
            stream: {self._cluster_id: ClusterMetadata(frozenset([stream]), self._properties)} for stream in stream_ids
        }


class KafkaStreamSubscriber:
    """Chooses streams. Subclass it in Python."""

    def __init__(self, j_kafka_stream_subscriber: Any = None) -> None:
        refuse_java_object(
            type(self).__name__, "j_kafka_stream_subscriber", j_kafka_stream_subscriber, "Write a subclass in Python."
        )

    @abstractmethod
    def get_subscribed_streams(self, service: KafkaMetadataService) -> Streams:
        raise NotImplementedError


class KafkaStreamSetSubscriber(KafkaStreamSubscriber):
    """Streams by their names."""

    def __init__(self, stream_ids: set[str]) -> None:
        super().__init__()
        self._stream_ids = sorted(stream_ids)

    def get_subscribed_streams(self, service: KafkaMetadataService) -> Streams:
        return service.describe_streams(self._stream_ids)


class StreamPatternSubscriber(KafkaStreamSubscriber):
    """All streams whose whole name matches; also those that come later, if the metadata is looked at again."""

    def __init__(self, stream_pattern: str) -> None:
        super().__init__()
        self._pattern = stream_pattern

    def get_subscribed_streams(self, service: KafkaMetadataService) -> Streams:
        return service.describe_streams(
            [name for name in service.get_all_streams() if re.fullmatch(self._pattern, name)]
        )


class DynamicKafkaSource(Source):
    """Reads streams of one or several clusters; made by its :meth:`builder`."""

    def __init__(self, j_dynamic_kafka_source: Any = None, *, parts: DynamicKafkaSourceBuilder | None = None) -> None:
        refuse_java_object(
            "DynamicKafkaSource", "j_dynamic_kafka_source", j_dynamic_kafka_source, "Use DynamicKafkaSource.builder()."
        )
        if parts is None or parts._subscriber is None or parts._service is None or parts._schema is None:
            raise ProgramError("Make a DynamicKafkaSource with DynamicKafkaSource.builder().")
        self._subscriber, self._service, self._schema = parts._subscriber, parts._service, parts._schema
        self._starting, self._stopping = parts._starting, parts._stopping
        own = {METADATA_INTERVAL, FAILURE_THRESHOLD}
        self._settings = KafkaSettings({key: value for key, value in parts._properties.items() if key not in own})
        check_client(self._settings, "Consumer")
        asked = KafkaSettings({key: value for key, value in parts._properties.items() if key in own})
        self.failure_threshold = asked.number(FAILURE_THRESHOLD, 1)
        self.bounded = self._stopping is not None
        intervals = (asked.number(METADATA_INTERVAL, -1), self._settings.number(DISCOVERY_INTERVAL, -1))
        repeated = [] if self.bounded else [interval for interval in intervals if interval > 0]
        self.metadata_interval_ms = min(repeated, default=None)

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder:
        return DynamicKafkaSourceBuilder()

    def clusters(self) -> Clusters:
        """What the subscribed streams have just now."""
        found: Clusters = {}
        for clusters in self._subscriber.get_subscribed_streams(self._service).values():
            for id_, metadata in clusters.items():
                _, topics = found.get(id_, (None, frozenset[str]()))
                found[id_] = self._settings.updated(metadata.properties), topics | metadata.topics
        return found

    def create_enumerator(self, context: EnumeratorContext) -> SplitEnumerator:
        return _ClusterEnumerator(self, self.metadata_interval_ms)

    def create_reader(self, context: ReaderContext) -> SourceReader:
        return _ClusterReader(self, context)

    def get_produced_type(self) -> TypeInformation:
        return self._schema.get_produced_type()


class _ClusterEnumerator(SplitEnumerator):
    """An enumerator for each cluster that is named, of the topics that are named there.

    Streams and partitions are looked for together, at the shorter of their two intervals.
    """

    news_interval_ms = KafkaEnumerator.news_interval_ms

    def __init__(self, source: DynamicKafkaSource, interval_ms: int | None) -> None:
        self.discovery_interval_ms = interval_ms
        self._source = source
        self._failures = 0  # of the metadata service, in a row
        self._named: Clusters = {}
        self._inner: dict[str, KafkaEnumerator] = {}
        self._states: dict[str, Any] = {}
        self._found: dict[str, Split] = {}  # whoever plans need not have seen every discovery

    def restore_state(self, state: dict[str, Any]) -> None:
        self._states = state

    def discover(self) -> list[Split]:
        before, self._named = self._named, self._named_now()
        for id_ in before.keys() | self._named.keys():
            if before.get(id_) != self._named.get(id_):
                self._end(id_)
                if id_ in self._named:
                    self._begin(id_, *self._named[id_])
        for id_, enumerator in self._inner.items():
            for split in enumerator.discover():
                split_id = f"{id_}{_AT}{split.split_id}"
                self._found[split_id] = replace(split, split_id=split_id)
        return list(self._found.values())

    def _named_now(self) -> Clusters:
        """What the metadata service says; while it fails, and may do so, what it has said before."""
        try:
            named = self._source.clusters()
        except Exception as error:
            self._failures += 1
            if self._failures >= self._source.failure_threshold:
                raise
            _logger.warning("The Kafka metadata service failed (%d in a row): %s", self._failures, error)
            return self._named
        self._failures = 0
        return named

    def _begin(self, id_: str, settings: KafkaSettings, topics: frozenset[str]) -> None:
        subscription = Subscription(topics=tuple(sorted(topics)))
        enumerator = KafkaEnumerator(settings, subscription, self._source._starting, self._source._stopping)
        if id_ in self._states:
            enumerator.restore_state(self._states[id_])
        enumerator.open()
        self._inner[id_] = enumerator

    def _end(self, id_: str) -> None:
        enumerator = self._inner.pop(id_, None)
        if enumerator is not None:
            self._states[id_] = enumerator.snapshot_state()
            enumerator.close()

    def snapshot_state(self) -> dict[str, Any]:
        return {**self._states, **{id_: enumerator.snapshot_state() for id_, enumerator in self._inner.items()}}

    def has_news(self, positions: Mapping[str, Any]) -> bool:
        return any(self._inner[id_].has_news(part) for id_, part in self._named_parts(positions).items())

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        for id_, part in self._named_parts(positions).items():
            self._inner[id_].on_commit(part)

    def _named_parts(self, positions: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The others may be gone: nobody is to be asked for them."""
        named = {id_: at for id_, at in positions.items() if _is_named(id_, self._named)}
        return {id_: part for id_, part in _by_cluster(named).items() if id_ in self._inner}

    def close(self) -> None:
        for enumerator in self._inner.values():
            enumerator.close()


class _ClusterReader(SourceReader):
    """A reader for each cluster; they take turns.

    Splits of a cluster or topic that is not named wait, where they are, until it is.
    """

    def __init__(self, source: DynamicKafkaSource, context: ReaderContext) -> None:
        self._source = source
        self._context = context
        self._named: Clusters = {}
        self._splits: dict[str, tuple[KafkaSplit, int]] = {}  # and how far each was read
        self._read: set[str] = set()  # the others wait
        self._paused: Collection[str] = ()
        self._inner: dict[str, KafkaReader] = {}
        self._next_look = 0.0

    def add_split(self, split: Split, position: int) -> None:
        assert isinstance(split, KafkaSplit)
        self._splits[split.split_id] = split, position
        if not _is_named(split.split_id, self._named):
            self._follow(self._source.clusters())
        if split.split_id in self._read:
            return
        if _is_named(split.split_id, self._named):
            self._begin(split, position)
        else:
            self._leave(split, position)

    def _look_again(self) -> None:
        interval = self._source.metadata_interval_ms
        if interval is None or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + interval / 1_000
        try:
            named = self._source.clusters()
        except Exception:  # the enumerator asks as well, and counts failures
            return
        if named != self._named:
            self._follow(named)

    def _follow(self, named: Clusters) -> None:
        before, self._named = self._named, named
        for cluster in list(self._inner):
            if cluster not in named or named[cluster][0] != before[cluster][0]:
                self._inner.pop(cluster).close()
                self._read -= {split_id for split_id in self._read if _cluster_of(split_id) == cluster}
                for split, position in self._splits.values():
                    if cluster not in named and _cluster_of(split.split_id) == cluster:
                        self._leave(split, position)
        for split_id, (split, position) in self._splits.items():
            if split_id in self._read and not _is_named(split_id, named):
                self._stop(split_id)
                self._leave(split, position)
            elif split_id not in self._read and _is_named(split_id, named):
                self._begin(split, position)
        self.pause_splits(self._paused)

    def _begin(self, split: KafkaSplit, position: int) -> None:
        cluster, _, inner_id = split.split_id.partition(_AT)
        if cluster not in self._inner:
            reset = self._source._starting.auto_offset_reset
            reader = KafkaReader(self._named[cluster][0], self._source._schema, reset, self._context.subtask)
            reader.open()
            self._inner[cluster] = reader
        self._inner[cluster].add_split(replace(split, split_id=inner_id), position)
        self._read.add(split.split_id)

    def _leave(self, split: KafkaSplit, position: int) -> None:
        told = f"{split.partition} of the Kafka cluster {_cluster_of(split.split_id)!r} is not named by its service"
        if self._source.bounded:
            raise JobExecutionError(
                f"{told} any more, but was not read to its end. Let the service name it until the job has ended."
            )
        _logger.warning("%s any more. It was read up to %s, and waits until it is named again.", told, position)

    def _stop(self, split_id: str) -> None:
        cluster, _, inner_id = split_id.partition(_AT)
        self._read.discard(split_id)
        self._inner[cluster].remove_split(inner_id)

    def remove_split(self, split_id: str) -> None:
        del self._splits[split_id]
        if split_id in self._read:
            self._stop(split_id)

    def pause_splits(self, split_ids: Collection[str]) -> None:
        self._paused = split_ids
        paused = _by_cluster(dict.fromkeys(split_ids))
        for cluster, reader in self._inner.items():
            reader.pause_splits(paused.get(cluster, {}).keys())

    def fetch(self, max_records: int) -> Fetch | None:
        self._look_again()
        for cluster in list(self._inner):
            reader = self._inner[cluster] = self._inner.pop(cluster)  # now the last: the others have their turn
            fetch = reader.fetch(max_records)
            if fetch is not None:
                return self._counted(replace(fetch, split_id=f"{cluster}{_AT}{fetch.split_id}"))
        return None

    def _counted(self, fetch: Fetch) -> Fetch:
        if fetch.finished:
            del self._splits[fetch.split_id]
            self._read.discard(fetch.split_id)
        else:
            self._splits[fetch.split_id] = self._splits[fetch.split_id][0], fetch.position
        return fetch

    def close(self) -> None:
        for reader in self._inner.values():
            reader.close()


def _cluster_of(split_id: str) -> str:
    return split_id.partition(_AT)[0]


def _is_named(split_id: str, named: Clusters) -> bool:
    cluster, _, partition = split_id.partition(_AT)
    return cluster in named and partition.rpartition("-")[0] in named[cluster][1]


def _by_cluster(positions: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    for split_id, position in positions.items():
        cluster, _, inner_id = split_id.partition(_AT)
        parts.setdefault(cluster, {})[inner_id] = position
    return parts


class DynamicKafkaSourceBuilder:
    """Settings of a :class:`DynamicKafkaSource`: streams, a metadata service and a deserializer are needed."""

    def __init__(self) -> None:
        self._subscriber: KafkaStreamSubscriber | None = None
        self._service: KafkaMetadataService | None = None
        self._schema: KafkaRecordDeserializationSchema | None = None
        self._starting = KafkaOffsetsInitializer.earliest()
        self._stopping: KafkaOffsetsInitializer | None = None
        self._properties: dict[str, str] = {}

    def build(self) -> DynamicKafkaSource:
        needed = {
            "set_stream_ids(), set_stream_pattern() or set_kafka_stream_subscriber()": self._subscriber,
            "set_kafka_metadata_service()": self._service,
            "set_deserializer() or set_value_only_deserializer()": self._schema,
        }
        for method, given in needed.items():
            if given is None:
                raise ProgramError(f"A DynamicKafkaSource needs {method}.")
        for initializer in (self._starting, self._stopping):
            if initializer is not None and initializer.needs_group and "group.id" not in self._properties:
                raise ProgramError("Committed offsets are those of a group: call set_group_id().")
        return DynamicKafkaSource(parts=self)

    def set_stream_ids(self, stream_ids: set[str]) -> DynamicKafkaSourceBuilder:
        if isinstance(stream_ids, str) or not stream_ids:
            raise ProgramError(f"set_stream_ids() takes a set of names, got {stream_ids!r}")
        return self.set_kafka_stream_subscriber(KafkaStreamSetSubscriber(stream_ids))

    def set_stream_pattern(self, stream_pattern: str) -> DynamicKafkaSourceBuilder:
        return self.set_kafka_stream_subscriber(StreamPatternSubscriber(stream_pattern))

    def set_kafka_stream_subscriber(self, kafka_stream_subscriber: KafkaStreamSubscriber) -> DynamicKafkaSourceBuilder:
        self._subscriber = _given(kafka_stream_subscriber, KafkaStreamSubscriber)
        return self

    def set_kafka_metadata_service(self, kafka_metadata_service: KafkaMetadataService) -> DynamicKafkaSourceBuilder:
        self._service = _given(kafka_metadata_service, KafkaMetadataService)
        return self

    def set_deserializer(self, deserializer: KafkaRecordDeserializationSchema) -> DynamicKafkaSourceBuilder:
        self._schema = _given(deserializer, KafkaRecordDeserializationSchema)
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema) -> DynamicKafkaSourceBuilder:
        self._schema = KafkaRecordDeserializationSchema.value_only(deserialization_schema)
        return self

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> DynamicKafkaSourceBuilder:
        self._starting = checked_initializer("set_starting_offsets", starting_offsets_initializer)
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> DynamicKafkaSourceBuilder:
        self._stopping = checked_initializer("set_bounded", stopping_offsets_initializer)
        return self

    def set_properties(self, props: dict[str, str]) -> DynamicKafkaSourceBuilder:
        self._properties.update(props)
        return self

    def set_property(self, key: str, value: str) -> DynamicKafkaSourceBuilder:
        self._properties[key] = value
        return self

    def set_group_id(self, group_id: str) -> DynamicKafkaSourceBuilder:
        return self.set_property("group.id", group_id)

    def set_client_id_prefix(self, prefix: str) -> DynamicKafkaSourceBuilder:
        return self.set_property("client.id.prefix", prefix)


def _given(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ProgramError(f"a {kind.__name__} written in Python is needed here, got {value!r}")
    return value
