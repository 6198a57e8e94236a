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
from penstock.datastream.connectors.rabbitmq import RMQConnectionConfig

PAIR = Types.ROW([Types.INT(), Types.STRING()])
DATABASE = JdbcConnectionOptions("jdbc:postgresql://h/d")
ANY: Any = "anything"


def elastic() -> Elasticsearch7SinkBuilder:
    return Elasticsearch7SinkBuilder()


def rabbit() -> RMQConnectionConfig.Builder:
    return RMQConnectionConfig.Builder()


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
    builder = elastic().set_hosts("h:1").set_emitter(ElasticsearchEmitter.static_index("i"))
    assert builder.set_connection_path_prefix(given).build().address.path_prefix == meant


def test_batches_of_a_sink_that_writes_whole_epochs_have_no_effect() -> None:
    options = JdbcExecutionOptions.builder().with_batch_size(7).build()
    with pytest.warns(UserWarning, match="no effect exactly once"):
        JdbcSink.exactly_once_sink("insert into t values (?, ?)", PAIR, DATABASE, options)
