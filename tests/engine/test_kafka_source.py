"""KafkaSource against a real broker: each record once, from where and to where the program said."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import strings_of
from tests.patience import patience
from tests.services.kafka import KafkaBroker, add_partitions, create_topic, produce

from penstock.common import SimpleStringSchema, Time, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.time import Duration
from penstock.connectors import BadRecords
from penstock.connectors.kafka.enumerator import KafkaEnumerator, KafkaSplit
from penstock.connectors.kafka.settings import KafkaSettings
from penstock.connectors.kafka.subscription import Subscription
from penstock.datastream import OutputTag, StreamExecutionEnvironment
from penstock.datastream.connectors.dynamic_kafka import (
    ClusterMetadata,
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    KafkaMetadataService,
    SingleClusterTopicMetadataService,
)
from penstock.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecord,
    KafkaRecordDeserializationSchema,
    KafkaTopicPartition,
)
from penstock.datastream.formats.json import JsonRowDeserializationSchema
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.functions.source import EnumeratorContext, ReaderContext

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
Place = KafkaTopicPartition


def read(env: StreamExecutionEnvironment, source: Any, watermarks: WatermarkStrategy = NO_WATERMARKS) -> list[Any]:
    return list(env.from_source(source, watermarks, "kafka").execute_and_collect())


@pytest.fixture(scope="module")
def filled(kafka: KafkaBroker) -> str:
    """Three partitions of a hundred records: `p-n` has the number n, and was written at 1000 * n."""
    topic = create_topic(kafka, 3)
    for partition in range(3):
        records = [{"value": f"{partition}-{n}", "partition": partition, "timestamp": 1000 * n} for n in range(1, 101)]
        produce(kafka, topic, records)
    return topic


ALL = {f"{partition}-{n}" for partition in range(3) for n in range(1, 101)}


@pytest.mark.parametrize(("parallelism", "epoch_records", "forget"), [(1, 1_000, False), (2, 40, False), (4, 70, True)])
def test_every_record_once_in_the_order_of_its_partition(
    local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str, parallelism: int, epoch_records: int, forget: bool
) -> None:
    found = read(local_env(parallelism, epoch_records, forget), strings_of(kafka, filled).build())
    assert len(found) == 300 and set(found) == ALL
    for partition in range(3):
        numbers = [int(value.partition("-")[2]) for value in found if value.startswith(f"{partition}-")]
        assert numbers == list(range(1, 101))


def offsets(topic: str, **given: int) -> dict[KafkaTopicPartition, int]:
    return {Place(topic, int(name[1:])): offset for name, offset in given.items()}


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (lambda t: KafkaOffsetsInitializer.earliest(), lambda t: KafkaOffsetsInitializer.timestamp(6_000), range(1, 6)),
        (lambda t: KafkaOffsetsInitializer.timestamp(98_500), lambda t: KafkaOffsetsInitializer.latest(), (99, 100)),
        (lambda t: KafkaOffsetsInitializer.latest(), lambda t: KafkaOffsetsInitializer.latest(), ()),
        (
            lambda t: KafkaOffsetsInitializer.offsets(offsets(t, p0=97, p1=97, p2=97)),
            lambda t: KafkaOffsetsInitializer.offsets(offsets(t, p0=99, p1=99, p2=99)),
            (98, 99),
        ),
        (
            lambda t: KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST),
            lambda t: KafkaOffsetsInitializer.offsets(offsets(t, p0=2, p1=2, p2=2)),
            (1, 2),
        ),
    ],
)
def test_begins_and_ends_where_the_program_says(
    local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str, start: Any, stop: Any, expected: Any
) -> None:
    source = strings_of(kafka, filled).set_starting_offsets(start(filled)).set_bounded(stop(filled)).build()
    assert set(read(local_env(2), source)) == {f"{p}-{n}" for p in range(3) for n in expected}


def test_single_partitions_and_patterns(local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str) -> None:
    places = {Place(filled, 2)}
    assert {value[0] for value in read(local_env(), strings_of(kafka).set_partitions(places).build())} == {"2"}
    pattern = f"{filled[:-2]}.."
    assert set(read(local_env(2), strings_of(kafka).set_topic_pattern(pattern).build())) == ALL


def test_unbounded_with_stopping_offsets_ends_too(
    local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str
) -> None:
    source = strings_of(kafka, filled).set_unbounded(KafkaOffsetsInitializer.latest()).build()
    assert not source.bounded
    assert set(read(local_env(), source)) == ALL


def committed_offset(broker: KafkaBroker, topic: str, group: str) -> int:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(broker.client(**{"group.id": group}))
    (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=patience(30))
    consumer.close()
    return int(found.offset)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + patience(10)
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_committed_offsets_follow_the_job_and_the_next_goes_on_from_them(
    local_env: EnvironmentFactory, kafka: KafkaBroker
) -> None:
    topic, group = create_topic(kafka), uuid.uuid4().hex
    produce(kafka, topic, [b"a", b"b"])
    start = KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST)
    source = strings_of(kafka, topic).set_group_id(group).set_starting_offsets(start).build()
    assert read(local_env(epoch_records=1), source) == ["a", "b"]
    wait_until(lambda: committed_offset(kafka, topic, group) == 2)
    produce(kafka, topic, [b"c"])
    assert read(local_env(), source) == ["c"]
    nowhere = KafkaOffsetsInitializer.committed_offsets()
    with pytest.raises(JobExecutionError, match=rf"No offset is committed for {topic}-0"):
        read(local_env(), strings_of(kafka, topic).set_starting_offsets(nowhere).build())


def test_partitions_that_come_later_are_found_and_read_from_their_beginning(kafka: KafkaBroker) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"old"])
    settings = KafkaSettings({"bootstrap.servers": kafka.address, "partition.discovery.interval.ms": 50})

    def new_enumerator() -> KafkaEnumerator:
        return KafkaEnumerator(settings, Subscription(topics=(topic,)), KafkaOffsetsInitializer.latest(), None)

    enumerator = new_enumerator()
    enumerator.open()
    assert [(split.split_id, split.start) for split in enumerator.discover()] == [(f"{topic}-0", 1)]
    assert not enumerator.has_news({f"{topic}-0": 1})
    produce(kafka, topic, [b"new"])
    assert enumerator.has_news({f"{topic}-0": 1})
    state = enumerator.snapshot_state()
    add_partitions(kafka, topic, 2)
    produce(kafka, topic, [{"value": b"first", "partition": 1}])
    restored = new_enumerator()
    restored.restore_state(state)
    restored.open()
    for each in (enumerator, restored):
        assert (f"{topic}-1", 0) in {(split.split_id, split.start) for split in each.discover()}
        each.close()
    assert enumerator.discovery_interval_ms == 50


class Everything(KafkaRecordDeserializationSchema):
    def deserialize_record(self, record: KafkaRecord) -> Any:
        return record if record.key != b"skip" else None


def test_records_with_all_that_kafka_knows(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    topic = create_topic(kafka)
    message = {"key": b"k", "value": b"v", "timestamp": 1234, "headers": [("h", b"1"), ("h", None)]}
    produce(kafka, topic, [message, {"key": b"skip", "value": b""}, {"key": b"gone", "value": None, "timestamp": 5}])
    found = read(local_env(), strings_of(kafka, topic).set_deserializer(Everything()).build())
    assert found == [
        KafkaRecord(topic, 0, 0, 1234, b"k", b"v", [("h", b"1"), ("h", None)]),
        KafkaRecord(topic, 0, 2, 5, b"gone", None, []),
    ]
    assert read(local_env(), strings_of(kafka, topic).build()) == ["v", ""], "a tombstone has no value to read"


def test_watermarks_are_those_of_each_partition(local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str) -> None:
    """Partitions are read one after the other, but no record is late because another partition is ahead."""
    windows = (
        local_env(1, 60)
        .from_source(strings_of(kafka, filled).build(), WatermarkStrategy.for_monotonous_timestamps(), "kafka")
        .map(lambda value: (value[0], 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    found = list(windows.execute_and_collect())
    assert sorted(count for _, count in found) == sorted([9, *[10] * 9, 1] * 3)


def test_partitions_of_one_source_wait_for_each_other(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    """Event time of partition 1 goes a hundred times as fast."""
    topic, count, drift, epoch = create_topic(kafka, 2), 300, 2_000, 10
    for partition, step in enumerate((1, 100)):
        moments = [1 + n * step for n in range(count)]
        messages = [{"value": f"{partition} {m}", "timestamp": m, "partition": partition} for m in moments]
        produce(kafka, topic, messages)
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    strategy = strategy.with_watermark_alignment("group", Duration.of_millis(drift))
    env = local_env(1, epoch)
    stream = env.from_source(strings_of(kafka, topic).build(), strategy, "kafka")
    found = [tuple(map(int, line.split())) for line in stream.execute_and_collect()]
    assert sorted(found) == [(partition, 1 + n * step) for partition, step in ((0, 1), (1, 100)) for n in range(count)]
    while_slow_runs = found[: found.index((0, count))]
    furthest = max((moment for partition, moment in while_slow_runs if partition == 1), default=0)
    # It stops at the limit that was known when the epoch began, and what had left the client by then still comes.
    assert furthest <= count + drift + 3 * epoch * 100


def test_only_what_is_committed(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    """Marks of transactions are read over, also at the end, where no record follows that would say so."""
    from confluent_kafka import Producer

    topic = create_topic(kafka)
    producer = Producer(kafka.client(**{"transactional.id": topic}))
    producer.init_transactions()
    for value, end in ((b"yes", producer.commit_transaction), (b"no", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush()
        end()
    assert read(local_env(), strings_of(kafka, topic, isolation_level="read_committed").build()) == ["yes"]
    assert read(local_env(), strings_of(kafka, topic).build()) == ["yes", "no"]


# -- bad input -------------------------------------------------------------------------------------------------

ROW = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
JSON = JsonRowDeserializationSchema.builder().type_info(ROW).build()
GOOD = [{"id": n, "name": f"n{n}"} for n in range(5)]


@pytest.fixture(scope="module")
def json_topic(kafka: KafkaBroker) -> str:
    topic = create_topic(kafka)
    texts = [json.dumps(each).encode() for each in GOOD]
    produce(kafka, topic, [*texts[:3], b'{"id": nonsense}', *texts[3:]])
    return topic


def test_a_bad_record_fails_the_job_with_its_place(
    local_env: EnvironmentFactory, kafka: KafkaBroker, json_topic: str
) -> None:
    source = strings_of(kafka, json_topic).set_value_only_deserializer(JSON).build()
    with pytest.raises(JobExecutionError, match=rf"{json_topic}-0 at offset 3 cannot be decoded: .*nonsense"):
        read(local_env(), source)


def test_bad_records_are_left_out_if_asked(local_env: EnvironmentFactory, kafka: KafkaBroker, json_topic: str) -> None:
    source = strings_of(kafka, json_topic).set_value_only_deserializer(JSON).set_bad_records(BadRecords.skip()).build()
    assert [row.as_dict() for row in read(local_env(), source)] == GOOD


@pytest.mark.parametrize("watermarks", [NO_WATERMARKS, WatermarkStrategy.for_monotonous_timestamps()])
def test_bad_records_go_to_a_side_output(
    local_env: EnvironmentFactory, kafka: KafkaBroker, json_topic: str, watermarks: WatermarkStrategy
) -> None:
    tag = OutputTag("broken", BadRecords.TYPE)
    builder = strings_of(kafka, json_topic).set_value_only_deserializer(JSON).set_bad_records(BadRecords.to(tag))
    rows = local_env(1, 2).from_source(builder.build(), watermarks, "kafka")
    broken = rows.get_side_output(tag).map(lambda bad: f"{bad[0].decode()} / {bad[1]}", Types.STRING())
    found = list(rows.map(lambda row: row.name, Types.STRING()).union(broken).execute_and_collect())
    assert sorted(found) == ["n0", "n1", "n2", "n3", "n4", f'{{"id": nonsense}} / {json_topic}-0 at offset 3']


# -- brokers that are away -------------------------------------------------------------------------------------


def test_a_broker_that_is_away_is_named_and_credentials_are_not(local_env: EnvironmentFactory) -> None:
    builder = strings_of(KafkaBroker(), "orders", default_api_timeout_ms="300")
    builder.set_bootstrap_servers("127.0.0.1:9").set_properties(
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "u",
            "sasl.password": "hush",
        }
    )
    with pytest.raises(JobExecutionError, match="127.0.0.1:9 does not answer while looking for partitions") as raised:
        read(local_env(), builder.build())
    assert "hush" not in str(raised.value) + repr(builder.build()._settings)


def test_a_topic_that_is_not_there(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    with pytest.raises(JobExecutionError, match="Kafka has no no-such-topic"):
        read(local_env(), strings_of(kafka, "no-such-topic").build())


def test_settings_that_the_client_does_not_know_fail_where_they_are_written(kafka: KafkaBroker) -> None:
    with pytest.raises(ProgramError, match="does not accept a setting: .*no.such.thing"):
        strings_of(kafka, "t", no_such_thing="1").build()


# -- other names -----------------------------------------------------------------------------------------------


def test_the_older_consumer(local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str) -> None:
    """It never ends, so that what it is underneath is looked at instead of run."""
    properties = {"bootstrap.servers": kafka.address, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = FlinkKafkaConsumer(filled, SimpleStringSchema(), properties)
    assert consumer._as_source()._starting.auto_offset_reset == "earliest"
    source = consumer.set_start_from_timestamp(99_000)._as_source()
    source._stopping, source.bounded = KafkaOffsetsInitializer.latest(), True
    consumer._as_source = lambda: source  # type: ignore[method-assign]
    found = list(local_env(2).add_source(consumer).execute_and_collect())
    assert set(found) == {f"{p}-{n}" for p in range(3) for n in (99, 100)}


def test_streams_by_name(local_env: EnvironmentFactory, kafka: KafkaBroker, filled: str) -> None:
    service = SingleClusterTopicMetadataService("here", {"bootstrap.servers": kafka.address})
    source = (
        DynamicKafkaSource.builder()
        .set_stream_pattern(f"{filled[:-1]}.")
        .set_kafka_metadata_service(service)
        .set_value_only_deserializer(SimpleStringSchema())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .build()
    )
    assert set(read(local_env(2, 50), source)) == ALL


class NamedStreams(SingleClusterTopicMetadataService):
    """Streams of one cluster that the test names one after the other; None makes it fail."""

    names: list[str] | None = None

    def get_all_streams(self) -> list[str]:
        if self.names is None:
            raise OSError("the registry is away")
        return self.names


def test_streams_that_are_named_later_are_found_at_the_interval_that_was_set(kafka: KafkaBroker) -> None:
    first, later = create_topic(kafka), create_topic(kafka)
    service = NamedStreams("here", {"bootstrap.servers": kafka.address})
    source = (
        DynamicKafkaSource.builder()
        .set_stream_pattern(".*")
        .set_kafka_metadata_service(service)
        .set_value_only_deserializer(SimpleStringSchema())
        .set_property("stream-metadata-discovery-interval-ms", "70")
        .set_property("stream-metadata-discovery-failure-threshold", "2")
        .set_property("partition.discovery.interval.ms", "50")
        .build()
    )
    enumerator = source.create_enumerator(EnumeratorContext("job", "uid", 1))
    assert enumerator.discovery_interval_ms == 50  # the shorter of both: partitions and streams are found together

    def found() -> set[str]:
        return {split.split_id for split in enumerator.discover()}

    service.names = [first]
    assert found() == {f"here@{first}-0"}
    service.names = None
    assert found() == {f"here@{first}-0"}  # the first failure in a row may be
    service.names = [first, later]
    assert f"here@{later}-0" in found()
    service.names = None
    found()
    with pytest.raises(OSError, match="the registry is away"):
        found()
    enumerator.close()


class NamedClusters(KafkaMetadataService):
    """One stream, in clusters that the test names."""

    def __init__(self, kafka: KafkaBroker, **topics: str) -> None:
        super().__init__()
        self.address = kafka.address
        self.topics = topics

    def get_all_streams(self) -> list[str]:
        return ["views"]

    def describe_streams(self, stream_ids: list[str]) -> dict[str, dict[str, ClusterMetadata]]:
        properties = {"bootstrap.servers": self.address}
        clusters = {id_: ClusterMetadata(frozenset([topic]), properties) for id_, topic in self.topics.items()}
        return dict.fromkeys(stream_ids, clusters)


def dynamic(service: KafkaMetadataService) -> DynamicKafkaSourceBuilder:
    builder = DynamicKafkaSource.builder().set_stream_ids({"views"}).set_kafka_metadata_service(service)
    builder.set_property("stream-metadata-discovery-interval-ms", "20")
    return builder.set_value_only_deserializer(SimpleStringSchema())


def test_a_cluster_that_is_not_named_when_the_job_goes_on_is_read_when_it_is_again(kafka: KafkaBroker) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"a", b"b"])
    service = NamedClusters(kafka)
    reader = dynamic(service).build().create_reader(ReaderContext("job", "uid", 0, 1, None))  # type: ignore[arg-type]
    reader.open()
    reader.add_split(KafkaSplit(f"here@{topic}-0", 0, Place(topic, 0)), 1)
    assert reader.fetch(10) is None
    service.topics = {"here": topic}
    until = time.monotonic() + patience(30)
    while (found := reader.fetch(10)) is None or not found.records:
        assert time.monotonic() < until
    assert found.records.values == ["b"] and found.split_id == f"here@{topic}-0"
    reader.close()


def test_a_cluster_or_topic_that_is_named_no_more_is_read_no_further_until_it_is_again(kafka: KafkaBroker) -> None:
    """Its brokers may be gone."""
    stays, goes = create_topic(kafka), create_topic(kafka)
    service = NamedClusters(kafka, near=stays, far=goes)
    source = dynamic(service).set_property("stream-metadata-discovery-interval-ms", "1").build()
    enumerator = source.create_enumerator(EnumeratorContext("job", "uid", 1))
    reader = source.create_reader(ReaderContext("job", "uid", 0, 1, None))  # type: ignore[arg-type]
    reader.open()
    for split in enumerator.discover():
        reader.add_split(split, 0)

    def found(number: int) -> set[str]:
        values: list[str] = []
        until = time.monotonic() + patience(30)
        while len(values) < number:
            assert time.monotonic() < until, values
            fetch = reader.fetch(10)
            values += fetch.records.values if fetch is not None and fetch.records else []  # type: ignore[union-attr]
        return set(values)

    def nothing_comes() -> None:
        """The first look in vain waits, so that the second one asks the metadata service again."""
        for _ in range(2):
            while (fetch := reader.fetch(10)) is not None:
                assert not fetch.records

    produce(kafka, stays, [b"near 0"])
    produce(kafka, goes, [b"far 0"])
    assert found(2) == {"near 0", "far 0"}
    for named in ({"near": stays}, {"near": stays, "far": create_topic(kafka)}):
        service.topics = named
        assert {split.split_id for split in enumerator.discover()} >= {f"near@{stays}-0", f"far@{goes}-0"}
        nothing_comes()
        produce(kafka, goes, [b"far and away"])
        produce(kafka, stays, [b"near"])
        assert found(1) == {"near"}
        nothing_comes()
        assert not enumerator.has_news({f"far@{goes}-0": 0}), "nobody is to be asked for it"
    service.topics = {"near": stays, "far": goes}
    enumerator.discover()
    assert enumerator.has_news({f"far@{goes}-0": 1})
    assert found(2) == {"far and away"}
    reader.close()
    enumerator.close()


def test_splits_that_were_found_are_told_again_when_more_streams_are_named(kafka: KafkaBroker) -> None:
    """Who plans takes only the last discovery: between two epochs there may have been several."""
    first, later = create_topic(kafka), create_topic(kafka)
    service = NamedStreams("here", {"bootstrap.servers": kafka.address})
    source = dynamic(service).set_stream_pattern(".*").build()
    enumerator = source.create_enumerator(EnumeratorContext("job", "uid", 1))
    service.names = [first]
    enumerator.discover()
    service.names = [first, later]
    assert {split.split_id for split in enumerator.discover()} == {f"here@{first}-0", f"here@{later}-0"}
    enumerator.close()


def test_what_has_to_be_read_to_an_end_is_not_left_out(kafka: KafkaBroker) -> None:
    source = dynamic(NamedClusters(kafka)).set_bounded(KafkaOffsetsInitializer.latest()).build()
    reader = source.create_reader(ReaderContext("job", "uid", 0, 1, None))  # type: ignore[arg-type]
    with pytest.raises(JobExecutionError, match="'here' is not named by its service any more"):
        reader.add_split(KafkaSplit("here@t-0", 0, Place("t", 0), 9), 1)
