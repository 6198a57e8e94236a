"""A real Kafka broker (KRaft, one process) with a directory of its own; its jars are fetched once, into .services."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from tests.patience import patience

VERSION = "4.3.1"
_ROOT = Path(__file__).resolve().parents[2] / ".services" / "kafka"
_DEPENDENCIES = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
)
_QUICK_START = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class Unavailable(RuntimeError):
    """Why there can be no broker on this machine; tests are skipped with it."""


class Kafka(Protocol):
    """One broker, or several."""

    replication: int

    @property
    def address(self) -> str: ...
    def client(self, **settings: Any) -> dict[str, Any]: ...


class KafkaBroker:
    """Started and stopped by the tests, also with SIGKILL; what it has stored stays until `remove`."""

    replication = 1  # of topics

    def __init__(self, settings: dict[str, str] | None = None, java_options: Sequence[str] = _QUICK_START) -> None:
        self._java_options = java_options
        self._directory = Path(tempfile.mkdtemp(prefix="penstock-kafka-"))
        self._port, self._controller = _free_port(), _free_port()
        self._settings = settings or {}
        self._quorum = {"controller.quorum.bootstrap.servers": self.controller}
        self._format_as = ("--standalone",)
        self._process: subprocess.Popen[bytes] | None = None
        self._formatted = False

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def controller(self) -> str:
        return f"127.0.0.1:{self._controller}"

    def join(self, number: int, voters: str, settings: dict[str, str]) -> None:
        """Before its first start: it becomes a member of a cluster."""
        self._quorum = {"controller.quorum.voters": voters}
        self._settings = {"node.id": str(number), **settings, **self._settings}
        self._format_as = ()

    def start(self) -> None:
        """Returns when clients can reach it."""
        self.format()
        self.launch()
        self.wait_until_it_answers()

    def format(self) -> None:
        if not self._formatted:
            libs = _fetched_jars()
            self._write_settings()
            tool = "kafka.tools.StorageTool"
            format_ = [
                "format",
                *self._format_as,
                "-t",
                _cluster_id(),
                "-c",
                str(self._directory / "server.properties"),
            ]
            subprocess.run(self._java(libs, tool, *format_), check=True, capture_output=True, timeout=patience(60))
            self._formatted = True

    def launch(self) -> None:
        """By a thread that lives as long as the broker shall."""
        libs = _fetched_jars()
        with (self._directory / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._java(libs, "kafka.Kafka", str(self._directory / "server.properties")),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    def kill(self) -> None:
        """As kill -9 does, in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGKILL)  # nobody needs its data any more, and an orderly end takes seconds
        shutil.rmtree(self._directory, ignore_errors=True)

    def log(self) -> str:
        return (self._directory / "broker.log").read_text(errors="replace")

    def client(self, **settings: Any) -> dict[str, Any]:
        return {"bootstrap.servers": self.address, "log_level": 4, **settings}  # 4: warnings, and what is worse

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    def _java(self, libs: Path, main: str, *arguments: str) -> list[str]:
        return ["java", *self._java_options, "-cp", f"{self._directory}:{libs}/*", main, *arguments]

    def _write_settings(self) -> None:
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            **self._quorum,
            "listeners": f"PLAINTEXT://127.0.0.1:{self._port},CONTROLLER://{self.controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self._port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(self._directory / "data"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "4",
            "group.initial.rebalance.delay.ms": "0",
            "broker.session.timeout.ms": "2000",
            "broker.heartbeat.interval.ms": "500",
            "log.cleaner.enable": "false",
            "log.retention.ms": "-1",
            "auto.create.topics.enable": "false",
            **self._settings,
        }
        text = "".join(f"{key}={value}\n" for key, value in settings.items())
        (self._directory / "server.properties").write_text(text)
        (self._directory / "log4j2.properties").write_text(_LOGGING)

    def wait_until_it_answers(self) -> None:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        deadline = time.monotonic() + patience(60)
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"the broker ended at its start:\n{self.log()[-2000:]}")
            with contextlib.suppress(OSError, KafkaException):
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                if AdminClient(self.client(log_level=0)).list_topics(timeout=5).brokers:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"the broker does not answer:\n{self.log()[-2000:]}")


_LOGGING = """status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=WARN
rootLogger.appenderRef.out.ref=out
"""


@contextlib.contextmanager
def kafka_broker(
    settings: dict[str, str] | None = None, java_options: Sequence[str] = _QUICK_START
) -> Iterator[KafkaBroker]:
    broker = KafkaBroker(settings, java_options)
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


def create_topic(
    broker: Kafka, partitions: int = 1, name: str | None = None, config: dict[str, str] | None = None
) -> str:
    """A new topic, with a name that no other test uses."""
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    name = name or f"topic-{uuid.uuid4().hex[:12]}"
    admin = AdminClient(broker.client())
    for future in admin.create_topics([NewTopic(name, partitions, broker.replication, config=config or {})]).values():
        future.result(patience(30))
    return name


def add_partitions(broker: Kafka, topic: str, total: int) -> None:
    from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]

    admin = AdminClient(broker.client())
    for future in admin.create_partitions([NewPartitions(topic, total)]).values():
        future.result(patience(30))


def produce(broker: Kafka, topic: str, values: Any, **settings: Any) -> None:
    """Values are bytes, or dictionaries of what `Producer.produce` takes."""
    from confluent_kafka import Producer

    producer = Producer(broker.client(**{"linger.ms": 5, "queue.buffering.max.messages": 10_000_000, **settings}))
    for value in values:
        producer.produce(topic, **(value if isinstance(value, dict) else {"value": value}))
    assert producer.flush(patience(60)) == 0


def committed_messages(broker: Kafka, topic: str) -> list[Any]:
    """Everything that a reader with read_committed sees up to now, by a client of Kafka's own."""
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    settings = {"group.id": uuid.uuid4().hex, "isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer(broker.client(**settings, **{"enable.auto.commit": False}))
    try:
        partitions = consumer.list_topics(topic, patience(30)).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found, open_ = [], set(partitions)
        deadline = time.monotonic() + patience(60)
        while open_:
            assert time.monotonic() < deadline, f"the partitions {open_} of {topic} do not end"
            for message in consumer.consume(10_000, 0.2):
                error = message.error()
                if error is None:
                    found.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_.discard(message.partition())
        return found
    finally:
        consumer.close()


def hanging_partitions(broker: Kafka, topic: str) -> set[int]:
    """Partitions with a transaction that nobody has ended: readers with read_committed do not get behind it."""
    from confluent_kafka import Consumer, TopicPartition

    ends = []
    for isolation in ("read_committed", "read_uncommitted"):
        consumer = Consumer(broker.client(**{"group.id": uuid.uuid4().hex, "isolation.level": isolation}))
        partitions = consumer.list_topics(topic, patience(30)).topics[topic].partitions
        places = [TopicPartition(topic, partition) for partition in partitions]
        ends.append({place.partition: consumer.get_watermark_offsets(place, patience(30))[1] for place in places})
        consumer.close()
    stable, all_ = ends
    return {partition for partition in all_ if stable[partition] != all_[partition]}


def _fetched_jars() -> Path:
    libs = _ROOT / f"libs-{VERSION}"
    if libs.exists():
        return libs
    if shutil.which("java") is None or shutil.which("mvn") is None:
        raise Unavailable("a Kafka broker needs java and mvn on the path")
    _ROOT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_ROOT) as scratch:
        pom, jars = Path(scratch) / "pom.xml", Path(scratch) / "libs"
        pom.write_text(_pom())
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
        fetched = subprocess.run(
            [*command, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"], capture_output=True, text=True
        )
        if fetched.returncode != 0:
            raise Unavailable(f"the jars of Kafka cannot be fetched: {fetched.stdout[-500:]}")
        with contextlib.suppress(OSError):  # another run was quicker
            jars.rename(libs)
    return libs


def _pom() -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        for group, artifact, version in _DEPENDENCIES
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>penstock.tests</groupId><artifactId>kafka</artifactId>"
        f"<version>1</version><packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )


def _cluster_id() -> str:
    return "MkU3OEVBNTcwNTJENDM2Qk"


def _die_with_parent() -> None:
    """A test run that is killed leaves no broker behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """A broker for somebody at a keyboard or for another process: prints its address, ends with its input."""
    import sys

    with kafka_broker() as broker:
        print(json.dumps({"address": broker.address, "pid": os.getpid()}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
