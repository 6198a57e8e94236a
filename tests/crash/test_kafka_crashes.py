"""Kafka to Kafka and PostgreSQL: whoever is killed, and whenever, both show each count once."""

from __future__ import annotations

import subprocess
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest
from tests.crash.killed_job import KilledJob
from tests.patience import patience
from tests.services.kafka import (
    Kafka,
    KafkaBroker,
    Unavailable,
    committed_messages,
    create_topic,
    hanging_partitions,
    kafka_broker,
    produce,
)
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.connectors.kafka.cluster import KafkaCluster
from penstock.connectors.kafka.offsets import KafkaTopicPartition
from penstock.connectors.kafka.source import checked_settings
from penstock.testing.faults import DRIVER_POINTS, RESIDENT_POINTS, WORKER_POINTS

pytestmark = pytest.mark.crash

KEYS = 40
LARGE = 500  # bytes of a result: an epoch of so many is produced by the writers


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    """One of its own: it is killed, too."""
    try:
        with kafka_broker() as broker:
            yield broker
    except Unavailable as reason:
        pytest.skip(str(reason))


class CountingJob(KilledJob):
    program = Path(__file__).with_name("kafka_count_job.py")
    sinks: tuple[str, ...] = ("counts",)

    def __init__(
        self,
        directory: Path,
        broker: Kafka,
        records: int,
        width: int = 0,
        database: PostgresServer | None = None,
        **settings: object,
    ) -> None:
        self.broker = broker
        self._width = width
        self._database = database
        self._table = f"counts_{uuid.uuid4().hex[:8]}"
        if database is not None:
            database.execute(f"create table {self._table} (count text)")
            self.sinks = ("counts", "table")
        self.source, self.sink = create_topic(broker, 3), create_topic(broker, 2)
        self._words = [f"word{n * n % KEYS}" for n in range(records)]
        produce(broker, self.source, [{"value": word, "key": word} for word in self._words])
        # Epochs that are saved pass the driver, and when one is due depends on the machine.
        settings["execution.checkpointing.interval"] = "1h"
        super().__init__(directory, records, **settings)  # type: ignore[arg-type]

    def expected(self) -> dict[str, Counter[str]]:
        counts = Counter(self._words)
        expected = Counter(f"{word}:{n}" for word, count in counts.items() for n in range(1, count + 1))
        return dict.fromkeys(self.sinks, expected)

    def arguments(self) -> list[str]:
        arguments = [self.broker.address, self.source, self.sink, str(self._width)]
        if self._database is not None:
            arguments += [f"{self._database.jdbc_url}?user={USER}&password={PASSWORD}", self._table]
        return arguments

    def visible(self, sink: str) -> Counter[str]:
        if sink == "table" and self._database is not None:
            return Counter(count for (count,) in self._database.query(f"select count from {self._table}"))
        return Counter(message.value().decode().strip() for message in committed_messages(self.broker, self.sink))

    def assert_complete(self) -> None:
        super().assert_complete()
        assert hanging_partitions(self.broker, self.sink) == set(), "no transaction is left open"


# A worker's death is repaired within the run, so one start can take it and another death.
MICRO_BATCHES = (("during-level-0:3", "during-commit:1"), ("after-state:2", "during-commit:2"))
RESIDENT = (("during-level-0:4", "before-report:5", "during-commit:2"),)


@pytest.mark.parametrize(("engine", "deaths"), [("micro-batch", MICRO_BATCHES), ("resident", RESIDENT)])
def test_killed_around_the_commit(
    tmp_path: Path, broker: KafkaBroker, engine: str, deaths: tuple[tuple[str, ...], ...]
) -> None:
    """The first pass of during-commit has sent records that nobody sees, the second has committed unknown to it."""
    job = CountingJob(tmp_path, broker, 12_000, epoch_records=1_500, engine=engine)
    for crashes in deaths:
        assert job.run(*crashes) != 0, job.story()
        assert not job.finished, job.story()
    job.run_to_the_end()
    job.assert_complete()


@pytest.mark.parametrize("engine", ["micro-batch", "resident"])
def test_writers_and_driver_are_killed_while_writers_produce(tmp_path: Path, broker: KafkaBroker, engine: str) -> None:
    """A worker dies in its transaction, another right behind one; then the driver, whose last epoch is not in Kafka."""
    job = CountingJob(tmp_path, broker, 16_000, LARGE, epoch_records=2_000, engine=engine)
    assert job.run("during-commit:1", "during-commit:4", "after-epoch-record:5") != 0, job.story()
    assert not job.finished, job.story()
    assert (tmp_path / "passes-1-1").stat().st_size >= 4, f"both deaths in a transaction came to pass\n{job.story()}"
    job.run_to_the_end()
    job.assert_complete()


def test_offsets_are_found_again_when_the_broker_was_restarted(broker: KafkaBroker) -> None:
    """Leaders have a new epoch then, and refuse who names the one before."""
    topic = create_topic(broker, 2)
    properties = {"bootstrap.servers": broker.address, "default.api.timeout.ms": str(int(patience(30) * 1000))}
    cluster = KafkaCluster(checked_settings(properties, "KafkaSource", "Consumer"), "looking")
    partitions = [KafkaTopicPartition(topic, number) for number in range(2)]
    try:
        assert cluster.latest(partitions) == dict.fromkeys(partitions, 0)
        broker.kill()
        broker.start()
        assert cluster.latest(partitions) == dict.fromkeys(partitions, 0)
    finally:
        cluster.close()


def _kill_broker_after_an_epoch(broker: KafkaBroker, job: CountingJob, process: subprocess.Popen[str]) -> None:
    job.wait_for_epoch(process)
    broker.kill()
    broker.start()


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["micro-batch", "resident"])
@pytest.mark.parametrize("width", [0, LARGE])
def test_the_broker_dies_and_comes_back(tmp_path: Path, broker: KafkaBroker, engine: str, width: int) -> None:
    job = CountingJob(tmp_path, broker, 20_000, width, epoch_records=2_000, engine=engine)
    process = job.start()
    _kill_broker_after_an_epoch(broker, job, process)
    assert job.wait(process, "broker killed") == 0, job.story()
    job.assert_complete()


PASSES = (1, 2, 3)


def _every_moment(engine: str, number: int) -> list[tuple[str, ...]]:
    """The driver dies at this pass of each of its points. Workers' deaths are repaired within the run: each start takes
    one of them along, so that over all passes all have their turn."""
    of_workers = _without_savepoints(WORKER_POINTS + (RESIDENT_POINTS if engine == "resident" else ()))
    drivers = [f"{point}:{number}" for point in _without_savepoints(DRIVER_POINTS)]
    workers = cycle([f"{point}:{each}" for each in PASSES for point in of_workers])
    assert len(of_workers) <= len(drivers)
    mine = islice(workers, len(of_workers) * PASSES.index(number), None)
    return [(worker, driver, "after-commit:6") for worker, driver in zip(mine, drivers, strict=False)]


def _without_savepoints(points: Iterable[str]) -> list[str]:
    return [point for point in points if not point.startswith("savepoint")]


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["micro-batch", "resident"])
@pytest.mark.parametrize(("width", "broker_dies"), [(0, False), (LARGE, False), (LARGE, True)])
@pytest.mark.parametrize("number", PASSES)
def test_killed_at_every_moment(
    tmp_path: Path,
    broker: KafkaBroker,
    postgres: PostgresServer,
    engine: str,
    width: int,
    broker_dies: bool,
    number: int,
) -> None:
    job = CountingJob(tmp_path, broker, 80_000, width, postgres, epoch_records=1_200, engine=engine)
    for crashes in _every_moment(engine, number):
        process = job.start(*crashes)
        if broker_dies:
            _kill_broker_after_an_epoch(broker, job, process)
        job.wait(process, ", ".join(crashes))
        assert not job.finished, f"the input is too short for this sweep\n{job.story()}"
    job.run_to_the_end(epoch_records=20_000)
    job.assert_complete()
