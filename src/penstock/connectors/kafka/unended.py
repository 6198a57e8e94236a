"""Transactions that brokers have decided, but not ended in every partition: the same verdict is written once more.

Kafka 4.3 forgets partitions that have no leader when it tells them how a transaction ended, which is so while a broker
starts. Their messages then wait for a verdict, and would take that of whatever the same producer does next. So who
opens a transactional id asks first what was decided, and tells all partitions again. docs/adr/0074 says why.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from importlib import import_module
from typing import Any, NamedTuple

from penstock.connectors.kafka.coordinator import NoteOfGroup, NotYet, Told, TransactionCoordinator
from penstock.connectors.kafka.outage import Outage
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client
from penstock.connectors.kafka.wire import CannotAsk, LoginRefused

_logger = logging.getLogger("penstock.kafka")
_PAUSE = 0.1
_CALL_SECONDS = 10.0
_COMMIT, _ABORT = "commit", "abort"
_DECIDED = {
    "PrepareCommit": _COMMIT,
    "CompleteCommit": _COMMIT,
    "PrepareAbort": _ABORT,
    "CompleteAbort": _ABORT,
    "PrepareEpochFence": _ABORT,
}
_OPENING, _TELLING = "opening", "telling"
_ENDED = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")


class Note(NamedTuple):
    """How the transaction before ended; `telling`: a transaction of that epoch tells it to all partitions."""

    verdict: str
    producer_id: int
    epoch: int
    telling: bool = False

    def tells(self, told: Told) -> bool:
        return self.telling and (self.producer_id, self.epoch) == (told.producer_id, told.epoch)


def _verdict(noted: Note | None, told: Told | None) -> str | None:
    """The note counts if nothing of the lane's own can have come after it."""
    if told is None:
        return None
    if noted is not None and (noted.tells(told) or (told.state == "Empty" and noted.producer_id == told.producer_id)):
        return noted.verdict
    return _DECIDED.get(told.state)


class Unended:
    """Of one transactional id. Opening the id makes Kafka forget the verdict, so that it is noted before: as an offset
    of a further group, which is there until all partitions know."""

    def __init__(self, settings: KafkaSettings, id_: str, topic: str, outage: Outage, timeout_ms: int) -> None:
        self._client = settings.for_admin()
        self._id = id_
        self._outage = outage
        self._timeout_ms = timeout_ms
        self._kept = NoteOfGroup(self._client, f"{id_}/ending", (topic, 0), _CALL_SECONDS)
        self._admin = new_client("AdminClient", self._client)
        self._noted: Note | None = None

    def note(self) -> None:
        """Before the id is opened."""
        try:
            noted, told = self._lasting(self._known)
        except CannotAsk as reason:
            _logger.info("what became of the last transaction of %s is not asked: %s", self._id, reason)
            return
        verdict = _verdict(noted, told)
        if told is not None and verdict:
            self._noted = Note(verdict, told.producer_id, told.epoch)
            self._lasting(lambda: self._write(self._noted))

    def _known(self) -> tuple[Note | None, Told | None]:
        """A transaction that is open is ended first: it is not decided while somebody else may still commit it."""
        noted = self._read()
        with self._coordinator() as coordinator:
            told = coordinator.describe()
            if told is not None and told.state == "Ongoing":
                if noted is not None and noted.tells(told):
                    coordinator.end(told, noted.verdict == _COMMIT)
                else:
                    coordinator.fence(self._timeout_ms)
                told = _ended(coordinator)
            return noted, told

    def _coordinator(self) -> TransactionCoordinator:
        return TransactionCoordinator(self._client, self._id, _CALL_SECONDS)

    def tell(self, topics: Iterable[str], is_stable: Callable[[], bool]) -> None:
        """After it was opened, and before anything is produced: all partitions get to know, if one does not."""
        noted = self._noted
        if noted is None:
            return
        partitions = self._lasting(lambda: self._partitions(topics))
        if not (is_stable() and self._lasting(lambda: self._nothing_open(partitions))):
            try:
                self._lasting(lambda: self._tell(noted.verdict, partitions))
            except CannotAsk as reason:
                _logger.warning("not all partitions know how the last transaction of %s ended: %s", self._id, reason)
                return
            _logger.warning("told all partitions how the last transaction of %s ended: %s", self._id, noted.verdict)
        self._lasting(lambda: self._write(noted._replace(verdict="")))
        self._noted = None

    def _tell(self, verdict: str, partitions: Mapping[str, list[int]]) -> None:
        """While one connection lasts, so that the coordinator cannot have forgotten some of them again."""
        with self._coordinator() as coordinator:
            who = coordinator.describe()
            if who is None:
                raise NotYet("the coordinator does not know the id that was opened")
            self._write(Note(verdict, who.producer_id, who.epoch, telling=True))
            coordinator.add(who, partitions, self._id)
            coordinator.end(who, verdict == _COMMIT)
            _ended(coordinator)

    def _partitions(self, topics: Iterable[str]) -> dict[str, list[int]]:
        found = {}
        for topic in topics:
            known = self._admin.list_topics(topic, timeout=_CALL_SECONDS).topics[topic].partitions
            if not known or any(each.leader < 0 for each in known.values()):
                raise NotYet(f"{topic} has a partition without a leader")
            found[topic] = sorted(known)
        return found

    def _nothing_open(self, partitions: Mapping[str, list[int]]) -> bool:
        """Of nobody; others' transactions may be, and then it is only told once more than needed."""
        module, kafka = import_module("confluent_kafka.admin"), confluent_kafka()
        latest = module.OffsetSpec.latest()
        places = {kafka.TopicPartition(topic, each): latest for topic, all_ in partitions.items() for each in all_}
        ends = []
        for isolation in (kafka.IsolationLevel.READ_UNCOMMITTED, kafka.IsolationLevel.READ_COMMITTED):
            asked = self._admin.list_offsets(places, isolation_level=isolation, request_timeout=_CALL_SECONDS)
            ends.append(
                {(each.topic, each.partition): future.result(_CALL_SECONDS).offset for each, future in asked.items()}
            )
        all_, stable = ends
        return all(stable[place] >= end for place, end in all_.items())

    # -- the note ----------------------------------------------------------------------------------------------

    def _read(self) -> Note | None:
        offset, text = self._kept.read()
        if not text:
            return None
        verdict, epoch, telling = text.split()
        return Note(verdict, offset, int(epoch), telling == _TELLING)

    def _write(self, note: Note | None) -> None:
        """The producer's id is the offset: it is a number that says nothing else."""
        assert note is not None
        text = f"{note.verdict} {note.epoch} {_TELLING if note.telling else _OPENING}" if note.verdict else ""
        self._kept.write(note.producer_id, text)

    def _lasting(self, step: Callable[[], Any]) -> Any:
        """Brokers may be away for a while."""
        began = time.monotonic()
        while True:
            try:
                return step()
            except (OSError, NotYet, FutureTimeout, confluent_kafka().KafkaException) as error:
                if time.monotonic() - began > self._outage.patience:
                    raise self._outage.failure_of(error, refused=isinstance(error, LoginRefused)) from None
                time.sleep(_PAUSE)


def _ended(coordinator: TransactionCoordinator) -> Told | None:
    began = time.monotonic()
    while (told := coordinator.describe()) and told.state not in _ENDED:
        if time.monotonic() - began > _CALL_SECONDS:
            raise NotYet("the transaction before is still ending")
        time.sleep(_PAUSE)
    return told
