"""Counts page views by app and ten seconds of event time: from a Kafka topic to another, and into PostgreSQL.

penstock run --job-id $(uuidgen | tr -d -) examples/kafka_page_views.py --servers localhost:9092

Both ends get each result exactly once, also when the job is killed and started again with its id. `make demo-kafka`
starts everything and shows that. Views are JSON objects with app and page; their time is that of Kafka's records.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from penstock.common import Row, Time, Types, WatermarkStrategy
from penstock.connectors import BadRecords
from penstock.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import DeliveryGuarantee, Sink
from penstock.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from penstock.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows

WINDOW_SECONDS = 10
VIEW = Types.ROW_NAMED(["app", "page"], [Types.STRING(), Types.STRING()])
COUNT = Types.ROW_NAMED(["app", "until", "views"], [Types.STRING(), Types.LONG(), Types.LONG()])
BROKEN = OutputTag("broken", BadRecords.TYPE)


class WithWindow(ProcessWindowFunction[Row, Row, str, TimeWindow]):
    """Puts a window's end beside the count, which the reduce function has made already."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Row]
    ) -> Iterable[Row]:
        (count,) = elements
        yield Row(app=key, until=context.window().end, views=count[2])


def views_from(options: argparse.Namespace) -> KafkaSource:
    builder = (
        KafkaSource.builder()
        .set_bootstrap_servers(options.servers)
        .set_topics(options.views)
        .set_group_id("page-views")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(JsonRowDeserializationSchema.builder().type_info(VIEW).build())
        .set_bad_records(BadRecords.to(BROKEN))
    )
    return (builder.set_bounded(KafkaOffsetsInitializer.latest()) if options.until_now else builder).build()


def counts_to_kafka(options: argparse.Namespace) -> KafkaSink:
    serializer = (
        KafkaRecordSerializationSchema.builder()
        .set_topic(options.counts)
        .set_value_serialization_schema(JsonRowSerializationSchema.builder().with_type_info(COUNT).build())
        .build()
    )
    return (
        KafkaSink.builder()
        .set_bootstrap_servers(options.servers)
        .set_record_serializer(serializer)
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("page-views")
        .build()
    )


def counts_to_postgres(options: argparse.Namespace) -> Sink:
    from penstock.connectors.jdbc.options import JdbcConnectionOptions
    from penstock.connectors.jdbc.sink import JdbcTableSink

    connection = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(options.postgres)
    connection.with_user_name(options.user).with_password(options.password)
    return JdbcTableSink(
        connection.build(), "counts", COUNT.get_field_names(), guarantee=DeliveryGuarantee.EXACTLY_ONCE
    )


def main(options: argparse.Namespace) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    views = env.from_source(views_from(options), WatermarkStrategy.for_monotonous_timestamps(), "views")
    views.get_side_output(BROKEN).map(lambda bad: f"{bad[1]}: {bad[2]}", Types.STRING()).print("broken")
    counts = (
        views.map(lambda view: Row(app=view.app, until=0, views=1), COUNT)
        .key_by(lambda count: count[0], Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.seconds(WINDOW_SECONDS)))
        .reduce(lambda a, b: Row(app=a[0], until=0, views=a[2] + b[2]), WithWindow(), COUNT)
        .uid("counts")
    )
    counts.sink_to(counts_to_kafka(options)).uid("kafka")
    if options.postgres:
        counts.sink_to(counts_to_postgres(options)).uid("postgres")
    env.execute("page views from Kafka")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", required=True, help="Kafka's host:port")
    parser.add_argument("--views", default="page-views", help="topic that is read")
    parser.add_argument("--counts", default="view-counts", help="topic that is written")
    parser.add_argument("--postgres", default="", help="jdbc:postgresql://host:port/database, with a table counts")
    parser.add_argument("--user", default="")
    parser.add_argument("--password", default="")
    parser.add_argument("--until-now", action="store_true", help="end at the present end of the topic")
    main(parser.parse_args())
