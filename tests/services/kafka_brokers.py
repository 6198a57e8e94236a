"""Three brokers that are one cluster: any of them may be killed, the two others go on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.services.kafka import KafkaBroker
from tests.services.processes import wait_until

SIZE = 3


class KafkaBrokers:
    """Every topic is on all of them, and takes records while two are there; transactions and groups as well."""

    replication = SIZE

    def __init__(self) -> None:
        self._members = [KafkaBroker() for _ in range(SIZE)]
        voters = ",".join(f"{number}@{each.controller}" for number, each in enumerate(self._members, 1))
        for number, each in enumerate(self._members, 1):
            each.join(number, voters, _REPLICATED)

    @property
    def address(self) -> str:
        return ",".join(each.address for each in self._members)

    def client(self, **settings: Any) -> dict[str, Any]:
        return self._members[0].client(**{"bootstrap.servers": self.address, **settings})

    def start(self) -> None:
        with ThreadPoolExecutor(SIZE) as side_by_side:
            list(side_by_side.map(KafkaBroker.format, self._members))
        for each in self._members:
            each.launch()
        for each in self._members:
            each.wait_until_it_answers()
        self.wait_until_whole()

    def kill(self, member: int) -> None:
        self._members[member].kill()

    def start_again(self, member: int) -> None:
        self._members[member].start()

    def leader(self, topic: str, partition: int) -> int:
        """Which member it is."""
        return int(self._described().topics[topic].partitions[partition].leader) - 1

    def wait_until_whole(self) -> None:
        """Until all have everything, so that the next may be killed."""
        wait_until(self._is_whole, "all brokers to have all partitions", 60)

    def _is_whole(self) -> bool:
        from confluent_kafka import KafkaException

        with contextlib.suppress(KafkaException):
            cluster = self._described()
            partitions = [each for topic in cluster.topics.values() for each in topic.partitions.values()]
            return len(cluster.brokers) == SIZE and all(len(each.isrs) == SIZE for each in partitions)
        return False

    def _described(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient(self.client(log_level=0)).list_topics(timeout=5)

    def stop(self) -> None:
        for each in self._members:
            each.stop()

    def log(self) -> str:
        return "\n".join(each.log() for each in self._members)


_REPLICATED = {
    "default.replication.factor": str(SIZE),
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": str(SIZE),
    "transaction.state.log.replication.factor": str(SIZE),
    "transaction.state.log.min.isr": "2",
}


@contextlib.contextmanager
def kafka_brokers() -> Iterator[KafkaBrokers]:
    brokers = KafkaBrokers()
    try:
        brokers.start()
        yield brokers
    finally:
        brokers.stop()
