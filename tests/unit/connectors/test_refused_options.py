"""An option that cannot take effect is refused by the method that takes it, and not accepted and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import SimpleStringSchema, Types
from penstock.common.errors import PenstockError
from penstock.connectors import BadRecords
from penstock.connectors.redis.options import RedisOptions
from penstock.connectors.redis.sink import RedisSink
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.cassandra import CassandraCommitter, CassandraSink
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.connectors.dynamic_kafka import DynamicKafkaSource
from penstock.datastream.connectors.elasticsearch import (
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)
from penstock.datastream.connectors.file_system import FileCompactor, FileSource, StreamFormat
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from penstock.datastream.connectors.kafka import FlinkKafkaProducer, Semantic
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource

PAIR = Types.ROW([Types.INT(), Types.STRING()])
DATABASE = JdbcConnectionOptions("jdbc:postgresql://h/d")
ANY: Any = "anything"
ANY_NUMBER: Any = 7
QUEUES = RMQConnectionConfig.Builder().set_uri("amqp://me:hush@h/").build()


def elastic() -> Elasticsearch7SinkBuilder:
    return Elasticsearch7SinkBuilder()


def rabbit() -> RMQConnectionConfig.Builder:
    return RMQConnectionConfig.Builder()


def database() -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
    return JdbcConnectionOptions.JdbcConnectionOptionsBuilder()


def to_hosts() -> Elasticsearch7SinkBuilder:
    return elastic().set_hosts("h:1").set_emitter(ElasticsearchEmitter.static_index("i"))


def cassandra() -> Any:
    return CassandraSink.add_sink(StreamExecutionEnvironment.get_execution_environment().from_collection([], PAIR))


def lines() -> Any:
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/logs")


def producer() -> FlinkKafkaProducer:
    settings = {"bootstrap.servers": "b:1"}
    return FlinkKafkaProducer("t", SimpleStringSchema(), settings, semantic=Semantic.EXACTLY_ONCE)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: JdbcConnectionOptions("jdbc:sqlite:/f", driver_name="org.postgresql.Driver"), "another database"),
        (lambda: elastic().set_delivery_guarantee(ANY), "takes a DeliveryGuarantee"),
        (lambda: elastic().set_bulk_flush_max_actions(0), r"set_bulk_flush_max_actions\(\)"),
        (lambda: elastic().set_bulk_flush_max_size_mb(-2), r"set_bulk_flush_max_size_mb\(\)"),
        (lambda: elastic().set_bulk_flush_interval(ANY), r"set_bulk_flush_interval\(\)"),
        (lambda: elastic().set_bulk_flush_backoff_strategy(ANY, 1, 1), "takes a FlushBackoffType"),
        (lambda: elastic().set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, -1, 1), "backoff_strategy"),
        (lambda: elastic().set_connection_request_timeout(-1), r"set_connection_request_timeout\(\)"),
        (lambda: elastic().set_connection_timeout(-1), r"set_connection_timeout\(\)"),
        (lambda: elastic().set_socket_timeout(-1), r"set_socket_timeout\(\)"),
        (lambda: rabbit().set_prefetch_count(65_536), r"set_prefetch_count\(\)"),
        (lambda: rabbit().set_uri("http://me:hush@h"), r"set_uri\(\)"),
        (lambda: rabbit().set_uri(ANY_NUMBER), r"set_uri\(\) takes a text"),
        (lambda: rabbit().set_port(ANY), r"set_port\(\) takes whole numbers from 1 to 65535"),
        (lambda: rabbit().set_host(ANY_NUMBER), r"set_host\(\)"),
        (lambda: rabbit().set_virtual_host(ANY_NUMBER), r"set_virtual_host\(\)"),
        (lambda: rabbit().set_user_name(ANY_NUMBER), r"set_user_name\(\)"),
        (lambda: rabbit().set_password(ANY_NUMBER), r"set_password\(\)"),
        (lambda: rabbit().set_topology_recovery_enabled(ANY), r"set_topology_recovery_enabled\(\) takes True or False"),
        (lambda: rabbit().set_automatic_recovery(ANY), r"set_automatic_recovery\(\)"),
        (lambda: rabbit().set_requested_heartbeat(-1), r"set_requested_heartbeat\(\)"),
        (lambda: rabbit().set_requested_frame_max(100), r"set_requested_frame_max\(\) takes 0 or 4096"),
        (lambda: rabbit().set_requested_channel_max(65_536), r"set_requested_channel_max\(\)"),
        (lambda: rabbit().set_network_recovery_interval(-1), r"set_network_recovery_interval\(\)"),
        (lambda: rabbit().set_connection_timeout(ANY), r"set_connection_timeout\(\)"),
        (lambda: RMQConnectionConfig(ANY), "Builder"),
        (lambda: RMQSource(ANY, "q", True, SimpleStringSchema()), "takes RMQConnectionConfig"),
        (lambda: RMQSource(QUEUES, "q", True, ANY), "takes DeserializationSchema"),
        (lambda: RMQSink(QUEUES, ANY_NUMBER, SimpleStringSchema()), r"RMQSink\(\) takes str"),
        (lambda: database().with_driver_name(ANY_NUMBER), r"with_driver_name\(\)"),
        (lambda: database().with_user_name(ANY_NUMBER), r"with_user_name\(\)"),
        (lambda: database().with_password(ANY_NUMBER), r"with_password\(\) takes a text, got one of type int"),
        (lambda: JdbcSink.sink(ANY_NUMBER, PAIR, DATABASE), r"JdbcSink\(\) takes str"),
        (lambda: JdbcSink.sink("insert", PAIR, DATABASE, ANY), "takes JdbcExecutionOptions"),
        (lambda: elastic().set_hosts(ANY_NUMBER), r"set_hosts\(\)"),
        (lambda: elastic().set_hosts("a b"), r"set_hosts\(\)"),
        (lambda: elastic().set_connection_username(ANY_NUMBER), r"set_connection_username\(\)"),
        (lambda: elastic().set_connection_password(ANY_NUMBER), r"set_connection_password\(\)"),
        (lambda: elastic().set_connection_path_prefix(ANY_NUMBER), r"set_connection_path_prefix\(\)"),
        (lambda: ElasticsearchEmitter.static_index(ANY_NUMBER), r"static_index\(\)"),
        (lambda: ElasticsearchEmitter.dynamic_index(ANY_NUMBER), r"dynamic_index\(\)"),
        (lambda: to_hosts().set_connection_password("hush").build(), "need each other"),
        (lambda: cassandra().set_query(ANY_NUMBER), r"set_query\(\)"),
        (lambda: cassandra().set_host(ANY_NUMBER), r"set_host\(\)"),
        (lambda: cassandra().set_host("h", ANY), r"set_host\(\)"),
        (lambda: cassandra().enable_write_ahead_log(ANY), r"enable_write_ahead_log\(\)"),
        (lambda: cassandra().set_mapper_options(ANY), r"set_mapper_options\(\)"),
        (lambda: cassandra().set_max_concurrent_requests(0), r"set_max_concurrent_requests\(\)"),
        (lambda: cassandra().set_max_concurrent_requests(1, ANY), r"set_max_concurrent_requests\(\) takes Duration"),
        (lambda: CassandraCommitter.default_checkpoint_committer(ANY), r"default_checkpoint_committer\(\)"),
        (lambda: RedisSink(RedisOptions(), lambda n: ("SET", n, n), prefix="p:"), "prefix of a RedisSink"),
        (lambda: producer().set_log_failures_only(True)._as_sink(), "set_log_failures_only"),  # type: ignore[attr-defined]
        (lambda: producer().set_flush_on_checkpoint(False)._as_sink(), "set_flush_on_checkpoint"),  # type: ignore[attr-defined]
        (lambda: lines().set_file_enumerator(ANY), "set_file_enumerator"),
        (lambda: lines().monitor_continuously(5), "monitor_continuously takes a Duration"),
        (lambda: lines().set_bad_records(ANY), "set_bad_records"),
        (lambda: lines().set_bad_records(BadRecords.skip()), "message_line_format"),
        (lambda: FileCompactor.concat_file_compactor(ANY), "takes bytes"),
        (lambda: NumberSequenceSource(1, ANY), "two whole numbers"),
        (lambda: DataGeneratorSource(str, -1), "0 or more"),
        (lambda: DataGeneratorSource(str, 1, ANY), "RateLimiterStrategy"),
        (lambda: DynamicKafkaSource.builder().set_starting_offsets(ANY), r"set_starting_offsets\(\)"),
        (lambda: DynamicKafkaSource.builder().set_bounded(ANY), r"set_bounded\(\)"),
        (lambda: DynamicKafkaSource.builder().set_stream_ids(ANY), r"set_stream_ids\(\)"),
    ],
)
def test_it_is_said_what_is_wrong(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises((PenstockError, ValueError, TypeError), match=sentence) as failure:
        call()
    assert "hush" not in str(failure.value)


@pytest.mark.parametrize(("given", "meant"), [("", ""), ("/", ""), ("/search/", "/search"), ("search", "/search")])
def test_a_path_prefix_is_put_between_host_and_request(given: str, meant: str) -> None:
    assert to_hosts().set_connection_path_prefix(given).build().address.path_prefix == meant


def test_batches_of_a_sink_that_writes_whole_epochs_have_no_effect() -> None:
    options = JdbcExecutionOptions.builder().with_batch_size(7).build()
    with pytest.warns(UserWarning, match="no effect exactly once"):
        JdbcSink.exactly_once_sink("insert into t values (?, ?)", PAIR, DATABASE, options)


def test_zero_stands_for_no_limit_of_a_connection_to_rabbitmq() -> None:
    """As for Java's client; the one underneath takes no zero, and no frames of more than 128 KiB."""
    pika = pytest.importorskip("pika")
    asked = rabbit().set_uri("amqp://me:hush@h/").set_connection_timeout(0).set_requested_channel_max(0)
    unlimited = asked.set_requested_frame_max(0).build()._parameters(pika)
    assert (unlimited.socket_timeout, unlimited.channel_max, unlimited.frame_max) == (None, 65_535, 131_072)
    assert asked.set_requested_frame_max(1_000_000).build()._parameters(pika).frame_max == 131_072


@pytest.mark.parametrize(("uri", "place"), [("amqp://h/", "h:5672"), ("amqps://h/", "h:5671"), ("amqps://h:7/", "h:7")])
def test_a_uri_without_a_port_means_that_of_its_scheme(uri: str, place: str) -> None:
    assert rabbit().set_uri(uri).build().place == f"RabbitMQ at {place}"


def test_a_password_in_a_uri_is_one_in_whatever_form() -> None:
    config = rabbit().set_uri("amqp://me:hu%73h@h/").build()
    assert "hush" not in str(config.lost(ValueError("login me:hush"))) + str(config.lost(ValueError("me:hu%73h@h")))
