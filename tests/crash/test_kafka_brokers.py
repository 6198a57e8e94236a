"""Three brokers, of which one dies at a time: leaders and coordinators move, and results are there once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest
from tests.crash.kafka_lanes_job import epoch_of, words_of
from tests.crash.test_kafka_crashes import LARGE, CountingJob
from tests.patience import patience
from tests.services.kafka import (
    Kafka,
    KafkaBroker,
    Unavailable,
    committed_messages,
    create_topic,
    hanging_partitions,
    kafka_broker,
)
from tests.services.kafka_brokers import SIZE, KafkaBrokers, kafka_brokers

pytestmark = pytest.mark.crash

ROOT = Path(__file__).parents[2]
LANES = 4
KILLS = 25


@pytest.fixture(scope="module")
def brokers() -> Iterator[KafkaBrokers]:
    try:
        with kafka_brokers() as brokers:
            yield brokers
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    try:
        with kafka_broker() as broker:
            yield broker
    except Unavailable as reason:
        pytest.skip(str(reason))


class Lanes:
    """A process of its own, which can be killed."""

    def __init__(self, brokers: Kafka, directory: Path) -> None:
        self._brokers = brokers
        self._directory = directory
        self._topics = [create_topic(brokers, 3), create_topic(brokers, 1)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def topic_of_one(self) -> str:
        return self._topics[1]

    @property
    def log(self) -> str:
        return (self._directory / "log").read_text()

    def start(self) -> None:
        program = "tests.crash.kafka_lanes_job"
        arguments = [self._brokers.address, str(self._directory), str(LANES), *self._topics]
        with (self._directory / "log").open("ab") as log:
            command = [sys.executable, "-m", program, *arguments]
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def wait_for_epochs(self, count: int) -> None:
        """Of each lane, from now on."""
        before = [epoch_of(self._directory, lane) for lane in range(LANES)]
        deadline = time.monotonic() + patience(120)
        while any(epoch_of(self._directory, lane) < before[lane] + count for lane in range(LANES)):
            assert time.monotonic() < deadline, f"a lane does not go on:\n{self.log[-4000:]}"
            assert self._process is not None and self._process.poll() is None, self.log
            time.sleep(0.05)

    def assert_once(self) -> None:
        (self._directory / "stop").touch()
        assert self._process is not None
        assert self._process.wait(patience(120)) == 0, self.log
        done = [epoch_of(self._directory, lane) for lane in range(LANES)]
        expected = Counter(
            word for lane in range(LANES) for epoch in range(done[lane]) for word in words_of(lane, epoch)
        )
        print(f"{sum(done)} commits; {self.log.count('told all partitions')} times all partitions were told")
        for topic in self._topics:
            assert hanging_partitions(self._brokers, topic) == set(), self.log
        found = Counter(each.value() for topic in self._topics for each in committed_messages(self._brokers, topic))
        assert found == expected, f"lost {len(expected - found)}, twice or wrong {len(found - expected)}\n{self.log}"


def _moment(random_: random.Random) -> None:
    time.sleep(random_.uniform(0, 0.5))  # whatever they do then


def test_lanes_go_on_when_a_leader_dies(tmp_path: Path, brokers: KafkaBrokers) -> None:
    """It is the leader of the only partition of a topic; what it leads otherwise, coordinators too, moves as well."""
    lanes = Lanes(brokers, tmp_path)
    lanes.start()
    try:
        lanes.wait_for_epochs(3)
        leader = brokers.leader(lanes.topic_of_one, 0)
        brokers.kill(leader)
        lanes.wait_for_epochs(3)
        lanes.kill()
        lanes.start()
        lanes.wait_for_epochs(3)
        brokers.start_again(leader)
        brokers.wait_until_whole()
        lanes.assert_once()
    finally:
        lanes.kill()


def _kill_at_random(lanes: Lanes, kill_broker: Callable[[random.Random], None], kills: int) -> None:
    random_ = random.Random()
    lanes.start()
    try:
        for number in range(kills):
            lanes.wait_for_epochs(2)
            _moment(random_)
            kill_broker(random_)
            print(f"killed {number + 1} times, {lanes.log.count('told all partitions')} times told", flush=True)
            if number % 2:
                _moment(random_)
                lanes.kill()
                lanes.start()
        lanes.wait_for_epochs(2)
        lanes.assert_once()
    finally:
        lanes.kill()


@pytest.mark.soak
def test_one_of_three_dies_at_random(tmp_path: Path, brokers: KafkaBrokers) -> None:
    def kill(random_: random.Random) -> None:
        member = random_.randrange(SIZE)
        brokers.kill(member)
        _moment(random_)
        brokers.start_again(member)
        brokers.wait_until_whole()

    _kill_at_random(Lanes(brokers, tmp_path), kill, kills=KILLS)


@pytest.mark.soak
def test_the_only_one_dies_at_random(tmp_path: Path, broker: KafkaBroker) -> None:
    def kill(random_: random.Random) -> None:
        broker.kill()
        broker.start()

    _kill_at_random(Lanes(broker, tmp_path), kill, kills=KILLS)


@pytest.mark.soak
@pytest.mark.parametrize(("engine", "epoch_records"), [("resident", 500), ("micro-batch", 4_000)])
@pytest.mark.parametrize("width", [0, LARGE])
def test_a_job_goes_on_when_each_broker_dies(
    tmp_path: Path, brokers: KafkaBrokers, engine: str, epoch_records: int, width: int
) -> None:
    """Without a restart: others are leaders at once."""
    never = {"restart-strategy.type": "none"}
    job = CountingJob(tmp_path, brokers, 300_000, width, epoch_records=epoch_records, engine=engine, **never)
    process = job.start()
    kills = 0
    for member in cycle(range(SIZE)):
        job.wait_for_epoch(process)
        if process.poll() is not None:
            break
        brokers.kill(member)
        kills += 1
        job.wait_for_epoch(process)
        brokers.start_again(member)
        brokers.wait_until_whole()
    assert job.wait(process, f"{kills} brokers killed") == 0, job.story()
    assert kills >= SIZE, f"the input is too short for this test\n{job.story()}"
    job.assert_complete()
