"""A program that is killed again and again: lanes that commit epochs as fast as they can, all into the same topics.

Arguments: the addresses of brokers, a directory, how many lanes, and the topics. A lane writes into the directory which
epoch it commits next, and stops behind an epoch when there is a file `stop`.
"""

from __future__ import annotations

import pickle
import sys
import threading
from pathlib import Path

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.serializer import Messages
from penstock.connectors.kafka.settings import KafkaSettings
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.transactions import TransactionLane

RECORDS = 12  # of an epoch


def words_of(lane: int, epoch: int) -> list[bytes]:
    return [b"%d %d %d" % (lane, epoch, number) for number in range(RECORDS)]


def part_of(lane: int, epoch: int, topics: list[str]) -> StagedPart:
    words = words_of(lane, epoch)
    of_words = [topics[number % len(topics)] for number in range(RECORDS)]
    messages = Messages(of_words, words, list(words), None, None, None)
    return StagedPart(f"{lane}-{epoch}", of_words[0], (pickle.dumps(messages),))


def epoch_of(directory: Path, lane: int) -> int:
    file = directory / f"lane-{lane}"
    return int(file.read_text()) if file.exists() else 0


class Lane(threading.Thread):
    def __init__(self, number: int, address: str, directory: Path, topics: list[str]) -> None:
        super().__init__()
        self._number = number
        self._directory = directory
        self._topics = topics
        self._lane = TransactionLane(KafkaSettings({"bootstrap.servers": address}), f"{topics[0]}/{number}", None)

    def run(self) -> None:
        epoch = epoch_of(self._directory, self._number)
        while not (self._directory / "stop").exists():
            try:
                self._lane.commit(epoch, [part_of(self._number, epoch, self._topics)])
            except JobExecutionError as error:
                print(f"lane {self._number}: {error}", flush=True)
                continue  # as a restart strategy does
            epoch += 1
            written = self._directory / f".lane-{self._number}"
            written.write_text(str(epoch))
            written.rename(self._directory / f"lane-{self._number}")
        self._lane.close()


def main(address: str, directory: str, lanes: str, *topics: str) -> None:
    running = [Lane(number, address, Path(directory), list(topics)) for number in range(int(lanes))]
    for lane in running:
        lane.start()
    for lane in running:
        lane.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
