"""Reads partitions in a worker: messages come in batches and stay bytes until the schema asks."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any

import numpy as np

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.enumerator import KafkaSplit
from penstock.connectors.kafka.outage import Outage
from penstock.connectors.kafka.records import KafkaRecordDeserializationSchema
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client
from penstock.functions.bad_records import BadRecord
from penstock.functions.source import Fetch, SourceReader, Split
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Integers

_MESSAGES_AT_ONCE = 4_000  # make a batch
_OF_THE_CLIENT = 500  # so many of its objects at a time: more leave the processor's cache, and take twice as long each
_WAIT = 0.1  # seconds, while some partition may have more
_AT_END_WAIT = 0.02
_FULL_QUEUE_MS = 20  # until the client looks at a full queue again; its default of 1 s leaves the reader without work

Place = tuple[str, int]  # topic, partition


@dataclass
class _Run:
    """Messages of one partition that follow each other: what the schema wants of them, without the client's objects."""

    parts: list[Any] = field(default_factory=list)
    timestamps: list[Integers] = field(default_factory=list)
    offsets: list[Sequence[int]] = field(default_factory=list)

    def offset(self, position: int) -> int:
        return next(islice(chain.from_iterable(self.offsets), position, None))


class KafkaReader(SourceReader):
    """One consumer for all partitions of a subtask. It is told what to read, and takes no part in group management."""

    def __init__(
        self, settings: KafkaSettings, schema: KafkaRecordDeserializationSchema, reset: str, subtask: int
    ) -> None:
        self._settings = settings
        self._subtask = subtask
        self._schema = schema
        self._reset = reset
        self._splits: dict[Place, KafkaSplit] = {}
        self._positions: dict[Place, int] = {}
        self._at_end: set[Place] = set()  # nothing was there when they were last looked at
        self._paused: set[Place] = set()
        self._runs: dict[Place, _Run] = {}  # of the batch that is being read
        self._waiting: deque[Fetch] = deque()

    def open(self) -> None:
        kafka = self._kafka = confluent_kafka()
        self._eof = kafka.KafkaError._PARTITION_EOF
        self._outage = Outage(self._settings, "reading")
        client = self._settings.for_client(
            group__id="penstock",
            isolation__level="read_uncommitted",  # the default of Kafka's own client, and so of Flink
            auto__offset__reset=self._reset,
            fetch__wait__max__ms=50,
            fetch__error__backoff__ms=100,
            queued__max__messages__kbytes=16_384,
            fetch__queue__backoff__ms=_FULL_QUEUE_MS,
            reconnect__backoff__max__ms=1_000,
        )
        client |= self._settings.client_id(str(self._subtask))
        commits = self._settings.flag("enable.auto.commit", False)  # only for those who watch: the job reads none
        client |= {
            "enable.auto.commit": commits,
            "enable.auto.offset.store": commits,
            "enable.partition.eof": True,
            "error_cb": self._outage.error_cb,
        }
        self._consumer = new_client("Consumer", client)

    # -- splits ------------------------------------------------------------------------------------------------

    def add_split(self, split: Split, position: int) -> None:
        assert isinstance(split, KafkaSplit)
        place = (split.partition.topic, split.partition.partition)
        if split.stop is not None and position >= split.stop:
            self._waiting.append(Fetch(split.split_id, [], position, finished=True))
            return
        self._splits[place] = split
        self._positions[place] = position
        self._consumer.incremental_assign([self._kafka.TopicPartition(*place, position)])

    def remove_split(self, split_id: str) -> None:
        for place, split in list(self._splits.items()):
            if split.split_id == split_id:
                self._forget(place)
        self._waiting = deque(fetch for fetch in self._waiting if fetch.split_id != split_id)

    def pause_splits(self, split_ids: Collection[str]) -> None:
        """What is already on its way out of this reader still comes."""
        wanted = {place for place, split in self._splits.items() if split.split_id in split_ids}
        for change, places in (("pause", wanted - self._paused), ("resume", self._paused - wanted)):
            if places:
                getattr(self._consumer, change)([self._kafka.TopicPartition(*place) for place in places])
        self._paused = wanted

    def _forget(self, place: Place) -> None:
        self._paused.discard(place)
        del self._splits[place], self._positions[place]
        self._at_end.discard(place)
        self._consumer.incremental_unassign([self._kafka.TopicPartition(*place)])

    # -- reading -----------------------------------------------------------------------------------------------

    def fetch(self, max_records: int) -> Fetch | None:
        if not self._waiting:
            self._consume(max_records)
        return self._waiting.popleft() if self._waiting else None

    def _consume(self, max_records: int) -> None:
        left = min(max_records, _MESSAGES_AT_ONCE)
        consume = self._consumer.consume
        messages = consume(min(left, _OF_THE_CLIENT), 0)
        if not messages:
            # It would wait for as many as it is asked for; the first one is enough.
            messages = consume(1, _AT_END_WAIT if len(self._at_end) == len(self._splits) else _WAIT)
        if not messages:
            self._check_brokers()
            return
        self._outage.over()
        while messages:
            for place, together in self._sorted(messages):
                self._take(place, together)
            left -= len(messages)
            messages = consume(min(left, _OF_THE_CLIENT), 0) if left else []
        for place in list(self._runs):
            self._end_run(place)

    def _sorted(self, messages: list[Any]) -> Iterator[tuple[Place, list[Any]]]:
        """Messages of one partition come one after the other, as they were fetched; errors stand alone."""
        kind = type(messages[0])
        topics = {topic for topic, _ in self._splits}
        if len(topics) == 1 and not any(map(kind.error, messages)):
            (topic,) = topics
            for partition, run in groupby(messages, kind.partition):
                yield (topic, partition), list(run)
        else:
            for (topic, partition, good), run in groupby(messages, _place_and_kind):
                together = list(run)
                if topic is None:
                    raise self._failure("", together[0].error())
                for part in [together] if good else [[message] for message in together]:
                    yield (topic, partition), part

    def _take(self, place: Place, messages: list[Any]) -> None:
        split = self._splits.get(place)
        if split is None:
            return  # it was given away while they were on their way
        if messages[0].error() is None:
            self._take_messages(place, split, messages)
        else:
            self._take_error(place, messages[0])

    def _take_messages(self, place: Place, split: KafkaSplit, messages: list[Any]) -> None:
        self._at_end.discard(place)
        ended = split.stop is not None and messages[-1].offset() >= split.stop - 1
        if ended:
            messages = [message for message in messages if message.offset() < split.stop]
        if messages:
            run = self._runs.setdefault(place, _Run())
            run.parts += self._schema._parts(messages)
            run.timestamps.append(_timestamps(messages))
            run.offsets.append(_offsets(messages))
        if ended:
            self._finish(place)

    def _end_run(self, place: Place) -> None:
        run = self._runs.pop(place, None)
        if run is not None:
            self._positions[place] = run.offsets[-1][-1] + 1
            self._waiting.append(self._decoded(place, run))

    def _decoded(self, place: Place, run: _Run) -> Fetch:
        split = self._splits[place]
        decoded = self._schema._decode(run.parts)
        timestamps = np.concatenate(run.timestamps)
        if decoded.kept is not None:
            timestamps = timestamps[decoded.kept]
        bad = [
            BadRecord(self._schema._bytes(run.parts[n]), f"{split.partition} at offset {run.offset(n)}", reason)
            for n, reason in decoded.bad
        ]
        records = decoded.records if isinstance(decoded.records, Batch) else Batch(decoded.records)
        return Fetch(split.split_id, records.timed(timestamps), self._positions[place], bad=bad)

    def _take_error(self, place: Place, message: Any) -> None:
        self._end_run(place)
        error = message.error()
        if error.code() != self._eof:
            raise self._failure(f" {place[0]}-{place[1]} from offset {self._positions[place]}", error)
        # After the last record may be marks of transactions, which are read over.
        self._at_end.add(place)
        split, end = self._splits[place], message.offset()
        if split.stop is not None and end >= split.stop:
            self._finish(place)
        elif end > self._positions[place]:
            self._positions[place] = end
            self._waiting.append(Fetch(split.split_id, [], end))

    def _failure(self, where: str, error: Any) -> JobExecutionError:
        return JobExecutionError(f"Kafka at {self._settings.servers}: reading{where} failed: {error.str()}")

    def _finish(self, place: Place) -> None:
        self._end_run(place)
        self._waiting.append(Fetch(self._splits[place].split_id, [], self._positions[place], finished=True))
        self._forget(place)

    def _check_brokers(self) -> None:
        if self._outage.lasts_too_long:
            try:
                self._consumer.list_topics(timeout=self._outage.patience)
            except self._kafka.KafkaException as error:
                raise self._outage.failure(error.args[0]) from None
            self._outage.over()

    def pending_records(self) -> int:
        """How many are there that were not read; as far as the client knows without asking."""
        pending = 0
        for place, position in self._positions.items():
            ends = self._consumer.get_watermark_offsets(self._kafka.TopicPartition(*place), cached=True)
            pending += max(0, ends[1] - position) if ends is not None else 0
        return pending

    def close(self) -> None:
        if hasattr(self, "_consumer"):
            self._consumer.close()


def _place_and_kind(message: Any) -> tuple[Any, int, bool]:
    return message.topic(), message.partition(), message.error() is None


def _offsets(messages: list[Any]) -> Sequence[int]:
    """Mostly one after the other; some may be missing, of a topic that is compacted or has transactions."""
    first, last = messages[0].offset(), messages[-1].offset()
    if last - first == len(messages) - 1:
        return range(first, last + 1)
    return [message.offset() for message in messages]


def _timestamps(messages: list[Any]) -> Integers:
    """Kafka's own, or the producer's; -1 stands for none."""
    told = map(type(messages[0]).timestamp, messages)
    timestamps = np.fromiter(map(itemgetter(1), told), np.int64, len(messages))
    timestamps[timestamps < 0] = MIN_TIMESTAMP
    return timestamps
