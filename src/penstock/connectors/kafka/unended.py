"""Transactions that brokers have decided, but not ended in every partition: the same verdict is written once more.

Kafka 4.3 forgets partitions that have no leader when it tells them how a transaction ended, which is so while a broker
starts. Their messages then wait for a verdict, and would take that of whatever the same producer does next. So who
opens a transactional id asks first what was decided, and who commits asks whether all partitions know. Those that do
not are told again. docs/adr/0074 says why.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.coordinator import NoteOfGroup, NotYet, Place, Told, TransactionCoordinator
from penstock.connectors.kafka.leaders import PartitionLeaders
from penstock.connectors.kafka.producing import KafkaProducing
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka
from penstock.connectors.kafka.wire import CannotAsk, LoginRefused

_logger = logging.getLogger("penstock.kafka")
_PAUSE = 0.1
_FIRST_PAUSE = 0.001  # a transaction ends within milliseconds
_CALL_SECONDS = 10.0
_COMMIT, _ABORT = "commit", "abort"
_DECIDED = {
    "PrepareCommit": _COMMIT,
    "CompleteCommit": _COMMIT,
    "PrepareAbort": _ABORT,
    "CompleteAbort": _ABORT,
    "PrepareEpochFence": _ABORT,
}
_Found = TypeVar("_Found")
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
    """Of one transactional id, while it is open. Opening the id makes Kafka forget the verdict, so that it is noted
    before: as an offset of a further group, which is there until all partitions know.

    `is_stable` says whether the marks of the last transaction can be read: then the partition of their group knows."""

    def __init__(
        self, settings: KafkaSettings, id_: str, topic: str, producing: KafkaProducing, is_stable: Callable[[], bool]
    ) -> None:
        self._client = settings.for_admin()
        self._servers = settings.servers
        self._id = id_
        self._topic = topic
        self._producing = producing
        self._is_stable = is_stable
        self._kept = NoteOfGroup(self._client, f"{id_}/ending", (topic, 0), _CALL_SECONDS)
        self._leaders = PartitionLeaders(self._client, producing.producer.list_topics, _CALL_SECONDS)
        self._coordinator: TransactionCoordinator | None = None  # kept, as every commit has questions
        self._asks = True
        self._asks_leaders = True
        self._noted: Note | None = None

    # -- opening the id ----------------------------------------------------------------------------------------

    def note(self, timeout_ms: int) -> None:
        """Before the id is opened."""
        try:
            noted, told = self._lasting(lambda: self._known(timeout_ms))
        except CannotAsk as reason:
            self._asks = False
            _logger.info("what became of the last transaction of %s is not asked: %s", self._id, reason)
            return
        verdict = _verdict(noted, told)
        if told is not None and verdict:
            self._noted = note = Note(verdict, told.producer_id, told.epoch)
            self._lasting(lambda: self._write(note))

    def _known(self, timeout_ms: int) -> tuple[Note | None, Told | None]:
        """A transaction that is open is ended first: it is not decided while somebody else may still commit it."""
        noted = self._read()
        with self._connected() as coordinator:
            told = coordinator.describe()
            if told is not None and told.state == "Ongoing":
                if noted is not None and noted.tells(told):
                    coordinator.end(told, noted.verdict == _COMMIT)
                else:
                    coordinator.fence(timeout_ms)
                told = _ended(coordinator)
            return noted, told

    def tell(self, topics: Iterable[str]) -> None:
        """After it was opened, and before anything is produced: all partitions get to know, if one does not."""
        noted = self._noted
        if noted is None:
            return
        partitions = self._lasting(lambda: self._leaders.partitions(topics))
        began, told = time.monotonic(), False
        # Where leaders must not be asked, it is told once, perhaps for nothing.
        while not self._all_know(noted.producer_id, partitions, unasked=told):
            if time.monotonic() - began > self._producing.outage.patience:
                raise self.hanging()
            if told:
                time.sleep(_PAUSE)
            try:
                self._lasting(lambda: self._tell(noted.verdict, partitions))
            except CannotAsk as reason:
                _logger.warning("not all partitions know how the last transaction of %s ended: %s", self._id, reason)
                return
            told = True
            _logger.warning("told all partitions how the last transaction of %s ended: %s", self._id, noted.verdict)
        self._lasting(lambda: self._write(noted._replace(verdict="")))
        self._noted = None

    def _tell(self, verdict: str, partitions: Iterable[Place]) -> None:
        """While one connection lasts, so that the coordinator cannot have forgotten some of them again."""
        of_topics: dict[str, list[int]] = defaultdict(list)
        for topic, number in partitions:
            of_topics[topic].append(number)
        with self._connected() as coordinator:
            who = coordinator.describe()
            if who is None:
                raise NotYet("the coordinator does not know the id that was opened")
            self._write(Note(verdict, who.producer_id, who.epoch, telling=True))
            coordinator.add(who, of_topics, self._id)
            coordinator.end(who, verdict == _COMMIT)
            _ended(coordinator)

    # -- commits -----------------------------------------------------------------------------------------------

    def transaction(self) -> Told | None:
        """That which is open, with all of its partitions, since nobody knows them afterwards."""
        return self._lasting(lambda: self._with_coordinator(TransactionCoordinator.describe)) if self._asks else None

    def is_over(self, committed: Told | None) -> bool:
        """All partitions of the transaction know that it was committed."""
        if committed is None:
            return self._is_stable_in_time()
        self._lasting(lambda: self._with_coordinator(_ended))
        # Where leaders must not be asked, one that was lost may have been forgotten.
        return self._all_know(committed.producer_id, committed.partitions, unasked=not self._producing.went_away())

    def _is_stable_in_time(self) -> bool:
        began = time.monotonic()
        while not (stable := self._is_stable()) and time.monotonic() - began < self._producing.outage.patience:
            pass
        return stable

    def hanging(self) -> JobExecutionError:
        return JobExecutionError(
            f"Kafka at {self._servers} has not ended a transaction of the sink {self._id!r}, although a"
            " new one could begin, and does not say how it was to end: nothing can be added without repeating or losing"
            " some results. Brokers of Kafka 4.3 that are killed while they end a transaction may leave one like this."
            f" Find it with `kafka-transactions.sh find-hanging --topic {self._topic}` (and in"
            " __consumer_offsets) and end it with `kafka-transactions.sh abort`: the job then goes on."
        )

    # -- asking ------------------------------------------------------------------------------------------------

    def _all_know(self, producer_id: int, places: Iterable[Place], unasked: bool) -> bool:
        if not self._is_stable():
            return False
        if self._asks_leaders:
            try:
                return not self._lasting(lambda: self._leaders.have_open(producer_id, places))
            except CannotAsk as reason:
                self._asks_leaders = False
                _logger.info("leaders of partitions are not asked about transactions of %s: %s", self._id, reason)
        return unasked

    def _connected(self) -> TransactionCoordinator:
        return TransactionCoordinator(self._client, self._id, _CALL_SECONDS)

    def _with_coordinator(self, step: Callable[[TransactionCoordinator], _Found]) -> _Found:
        if self._coordinator is None:
            self._coordinator = self._connected()
        try:
            return step(self._coordinator)
        except BaseException:
            self._coordinator.close()
            self._coordinator = None
            raise

    def _lasting(self, step: Callable[[], _Found]) -> _Found:
        """Brokers may be away for a while."""
        outage = self._producing.outage
        began = time.monotonic()
        while True:
            try:
                return step()
            except (OSError, NotYet, confluent_kafka().KafkaException) as error:
                if time.monotonic() - began > outage.patience:
                    raise outage.failure_of(error, refused=isinstance(error, LoginRefused)) from None
                time.sleep(_PAUSE)

    def close(self) -> None:
        self._leaders.close()
        if self._coordinator is not None:
            self._coordinator.close()

    # -- the note ----------------------------------------------------------------------------------------------

    def _read(self) -> Note | None:
        offset, text = self._kept.read()
        if not text:
            return None
        verdict, epoch, telling = text.split()
        return Note(verdict, offset, int(epoch), telling == _TELLING)

    def _write(self, note: Note) -> None:
        """The producer's id is the offset: it is a number that says nothing else."""
        text = f"{note.verdict} {note.epoch} {_TELLING if note.telling else _OPENING}" if note.verdict else ""
        self._kept.write(note.producer_id, text)


def _ended(coordinator: TransactionCoordinator) -> Told | None:
    began, pause = time.monotonic(), _FIRST_PAUSE
    while (told := coordinator.describe()) and told.state not in _ENDED:
        if time.monotonic() - began > _CALL_SECONDS:
            raise NotYet("the transaction before is still ending")
        time.sleep(pause)
        pause = min(2 * pause, _PAUSE)
    return told
