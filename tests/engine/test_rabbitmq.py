"""A real RabbitMQ at both ends: acknowledged with the epoch, recognised when it comes again."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pika
import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.connector_pages import ConnectorPage
from tests.services.processes import wait_until
from tests.services.rabbitmq import PASSWORD, USER, rabbitmq_server

from penstock.common import SimpleStringSchema
from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.common.typeinfo import Types
from penstock.connectors import BadRecords
from penstock.connectors.rabbitmq.source import QueuePosition, QueueSource
from penstock.datastream import OutputTag, StreamExecutionEnvironment
from penstock.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource
from penstock.datastream.formats.json import JsonRowDeserializationSchema
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.source import EnumeratorContext, Split
from penstock.runtime import hosting


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with rabbitmq_server() as found:
        yield found


def config_at(port: int, password: str = PASSWORD) -> RMQConnectionConfig:
    builder = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(port).set_virtual_host("/")
    return builder.set_user_name(USER).set_password(password).set_network_recovery_interval(100).build()


class Queue:
    """A queue seen by RabbitMQ's own client."""

    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self._connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port))
        self._channel = self._connection.channel()
        self._channel.queue_delete(name)
        self._channel.queue_declare(name, durable=True)

    def publish(self, *texts: str) -> None:
        for text in texts:
            self._channel.basic_publish("", self.name, text.encode(), pika.BasicProperties(correlation_id=text))

    def ready(self) -> int:
        return int(self._channel.queue_declare(self.name, durable=True).method.message_count)

    def taken(self) -> list[str]:
        found = []
        while (message := self._channel.basic_get(self.name, auto_ack=True))[0] is not None:
            found.append(message[2].decode())
        return found


def read(reader: Any, count: int) -> tuple[list[str], QueuePosition]:
    found: list[str] = []
    last = QueuePosition()

    def enough() -> bool:
        nonlocal last
        fetch = reader.fetch(3)
        if fetch is not None:
            found.extend(fetch.records)
            last = fetch.position
        return len(found) >= count

    wait_until(enough, f"{count} messages", 20)
    return found, pickle.loads(pickle.dumps(last))


def test_what_no_epoch_has_kept_comes_again_and_what_one_has_does_not(port: int) -> None:
    queue = Queue(port, "again")
    queue.publish(*"abcdef")
    source = QueueSource(config_at(port), "again", True, SimpleStringSchema())
    split = Split("again", QueuePosition())
    first = source.create_reader(None)  # type: ignore[arg-type]
    first.add_split(split, split.start)
    found, kept = read(first, 3)
    assert found == ["a", "b", "c"]
    read(first, 1)  # in an epoch that fails
    first.close()
    second = source.create_reader(None)  # type: ignore[arg-type]
    second.add_split(split, kept)  # the epoch was kept, and died before its acknowledgement
    found, kept = read(second, 3)
    assert found == ["d", "e", "f"]
    enumerator = source.create_enumerator(EnumeratorContext("job", "source", 1))
    assert kept.unacknowledged and enumerator.has_news({"again": kept})
    second.on_commit({"again": kept})
    fetch = second.fetch(3)
    assert fetch is not None and fetch.position.unacknowledged == 0 and fetch.position.ids == frozenset()
    assert not enumerator.has_news({"again": fetch.position})
    enumerator.close()
    second.close()
    assert queue.ready() == 0


def test_from_queue_to_queue(port: int, tmp_path: Any) -> None:
    incoming, outgoing = Queue(port, "in"), Queue(port, "out")
    incoming.publish(*(f"m{n}" for n in range(40)))
    for schema_ids in (True, False):
        executor = LocalExecutor(10, stop_after=2, savepoint_directory=str(tmp_path))
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(2)
        stream = env.add_source(RMQSource(config_at(port), "in", schema_ids, SimpleStringSchema()))
        stream.map(str.upper, Types.STRING()).add_sink(RMQSink(config_at(port), "out", SimpleStringSchema()))
        env.execute()
        hosting.forget_containers()  # as workers that end with their job: what was not acknowledged goes back
        incoming.publish(*(f"n{n}" for n in range(10)))
    found = outgoing.taken()
    assert len(found) >= 20 and set(found) <= {f"M{n}" for n in range(40)} | {f"N{n}" for n in range(20)}


def test_many_messages_arrive(port: int, local_env: EnvironmentFactory) -> None:
    queue = Queue(port, "many")
    env = local_env(2, epoch_records=900)
    texts = env.from_collection([f"{n}" for n in range(3_000)], Types.STRING())
    texts.add_sink(RMQSink(config_at(port), "many", SimpleStringSchema()))
    env.execute()
    assert sorted(map(int, queue.taken())) == list(range(3_000))


def test_what_goes_wrong_is_said(port: int, local_env: EnvironmentFactory) -> None:
    with pytest.raises(ConfigurationError, match="virtual_host, user_name, password"):
        RMQConnectionConfig.Builder().set_host("h").set_port(1).build()
    config = RMQConnectionConfig.Builder().set_uri("amqp://me:hush@h:5672/x").build()
    assert "hush" not in repr(config)
    queue = Queue(port, "nameless")
    queue._channel.basic_publish("", "nameless", b"x")
    env = local_env()
    env.add_source(RMQSource(config_at(port), "nameless", True, SimpleStringSchema())).print()
    with pytest.raises(JobExecutionError, match="has no correlation id"):
        env.execute()
    env = local_env()
    env.from_collection(["a"], Types.STRING()).add_sink(RMQSink(config_at(1), "q", SimpleStringSchema()))
    with pytest.raises(JobExecutionError, match="RabbitMQ at 127.0.0.1:1, virtual host '/' is away") as failure:
        env.execute()
    assert PASSWORD not in str(failure.value).replace("'guest'", "")


def test_messages_that_cannot_be_decoded(port: int, tmp_path: Path) -> None:
    queue = Queue(port, "numbers")
    queue.publish('{"n": 1}', "nonsense", '{"n": 2}')
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["n"], [Types.INT()])).build()
    broken = OutputTag("broken", BadRecords.TYPE)

    def collected(bad_records: BadRecords, side: bool = False) -> list[Any]:
        env = StreamExecutionEnvironment(executor=LocalExecutor(10, stop_after=1, savepoint_directory=str(tmp_path)))
        source = RMQSource(config_at(port), "numbers", False, schema).set_bad_records(bad_records)
        rows = env.add_source(source)
        return list((rows.get_side_output(broken) if side else rows).execute_and_collect())

    with pytest.raises(JobExecutionError, match=r"queue numbers cannot be decoded.*b'nonsense'"):
        collected(BadRecords.fail())
    wait_until(lambda: queue.ready() == 3, "the messages to be given back", 20)
    assert [row.n for row in collected(BadRecords.skip())] == [1, 2]
    queue.publish("more nonsense")
    ((raw, place, reason),) = collected(BadRecords.to(broken), side=True)
    assert (raw, place) == (b"more nonsense", "queue numbers") and "JSON" in reason


def test_a_queue_of_another_kind_is_named_with_its_server(port: int, local_env: EnvironmentFactory) -> None:
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port))
    connection.channel().queue_declare("passing", durable=False)
    reading, writing = local_env(), local_env()
    reading.add_source(RMQSource(config_at(port), "passing", False, SimpleStringSchema())).print()
    writing.from_collection(["a"], Types.STRING()).add_sink(RMQSink(config_at(port), "passing", SimpleStringSchema()))
    for env in (reading, writing):
        with pytest.raises(JobExecutionError, match=r"RabbitMQ at 127.0.0.1:\d+, .*inequivalent arg 'durable'"):
            env.execute()
    connection.close()


def test_the_program_of_the_page(local_env: EnvironmentFactory, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    orders, shouted = Queue(port, "orders"), Queue(port, "shouted")
    orders.publish("tea", "milk")
    page = ConnectorPage("rabbitmq", local_env(), monkeypatch)
    places = {'"localhost"': '"127.0.0.1"', "5672": str(port)}
    page.run(places, until=lambda: shouted.ready() == 2)
    assert shouted.taken() == ["TEA", "MILK"]
