"""What librdkafka cannot do: ask what became of a transaction, and end one in partitions without writing a record."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.wire import CannotAsk, Connection, Question, array, compact_string, string

_COMMIT_OFFSETS, _FETCH_OFFSETS = Question(8, 2), Question(9, 1)
_FIND_COORDINATOR, _VERSIONS = Question(10, 1), Question(18, 0)
_INIT, _ADD_PARTITIONS, _ADD_OFFSETS, _END = Question(22, 0), Question(24, 0), Question(25, 0), Question(26, 0)
PRODUCERS, _DESCRIBE = Question(61, 0), Question(65, 0)
_NEEDED = (_COMMIT_OFFSETS, _FETCH_OFFSETS, _INIT, _ADD_PARTITIONS, _ADD_OFFSETS, _END, PRODUCERS, _DESCRIBE)
_OF_GROUPS, _OF_TRANSACTIONS = 0, 1
_UNKNOWN_ID = 105
_STILL_ENDING = 51
_DEFAULT_PORT = 9092
_OFFSETS = "__consumer_offsets"
# Of brokers that have just started, or that partitions have left; and while the transaction before is still ending.
_PASSING = {-1, 3, 5, 6, 7, 13, 14, 15, 16, _STILL_ENDING, 55, 56}
_FENCED = {47, 49, 90}
_CANNOT = {29, 30, 35, 53}  # not allowed, or not known


Place = tuple[str, int]  # topic and partition


class NotYet(Exception):
    """The same question may be answered soon."""


class Refused(JobExecutionError):
    """Asking again would not help."""


class Told(NamedTuple):
    """About a transactional id; `state` in Kafka's words: Empty, Ongoing, PrepareCommit, CompleteCommit, ..."""

    state: str
    producer_id: int
    epoch: int
    partitions: tuple[Place, ...] = ()  # while it is not over; without that of the group


class TransactionCoordinator:
    """Of one transactional id. One connection for all questions: while it lasts, the coordinator is there."""

    def __init__(self, settings: Mapping[str, Any], id_: str, seconds: float) -> None:
        self._id = id_
        self._connection = _connected(settings, id_, _OF_TRANSACTIONS, seconds)

    def __enter__(self) -> TransactionCoordinator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def describe(self) -> Told | None:
        """None: it does not know the id."""
        body = b"\x02" + compact_string(self._id) + b"\0"
        answer = self._connection.ask(_DESCRIBE, body, compact=True)
        answer.int32(), answer.varint()
        code, _, state = answer.int16(), answer.compact_string(), answer.compact_string()
        if code == _UNKNOWN_ID:
            return None
        check(code)
        answer.int32(), answer.int64()
        producer_id, epoch, partitions = answer.int64(), answer.int16(), []
        for _ in range(answer.varint() - 1):
            topic = answer.compact_string()
            partitions += [(topic, answer.int32()) for _ in range(answer.varint() - 1)]
            answer.skip_tags()
        return Told(state, producer_id, epoch, tuple(each for each in partitions if each[0] != _OFFSETS))

    def fence(self, timeout_ms: int) -> None:
        """Nobody who has opened the id before can go on; what is open is being aborted when this returns."""
        answer = self._connection.ask(_INIT, string(self._id) + struct.pack(">i", timeout_ms))
        answer.int32()
        code = answer.int16()
        if code != _STILL_ENDING:
            check(code)

    def add(self, who: Told, partitions: Mapping[str, Iterable[int]], group: str) -> None:
        """The group's offsets are a partition, too. A transaction begins with them."""
        topics = [
            string(topic) + array([struct.pack(">i", number) for number in numbers])
            for topic, numbers in partitions.items()
        ]
        answer = self._connection.ask(_ADD_PARTITIONS, self._named(who) + array(topics))
        answer.int32()
        for _ in range(answer.int32()):
            answer.string()
            for _ in range(answer.int32()):
                answer.int32()
                check(answer.int16())
        answer = self._connection.ask(_ADD_OFFSETS, self._named(who) + string(group))
        answer.int32()
        check(answer.int16())

    def end(self, who: Told, commits: bool) -> None:
        answer = self._connection.ask(_END, self._named(who) + struct.pack(">?", commits))
        answer.int32()
        check(answer.int16())

    def _named(self, who: Told) -> bytes:
        return string(self._id) + struct.pack(">qh", who.producer_id, who.epoch)


class NoteOfGroup:
    """A text that a group keeps beside an offset, of which nothing depends on a transaction."""

    def __init__(self, settings: Mapping[str, Any], group: str, place: tuple[str, int], seconds: float) -> None:
        self._settings = settings
        self._group = group
        self._topic, self._partition = place
        self._seconds = seconds

    def read(self) -> tuple[int, str]:
        places = array([string(self._topic) + array([struct.pack(">i", self._partition)])])
        with _connected(self._settings, self._group, _OF_GROUPS, self._seconds) as connection:
            answer = connection.ask(_FETCH_OFFSETS, string(self._group) + places)
        answer.int32(), answer.string(), answer.int32(), answer.int32()
        offset, text = answer.int64(), answer.string()
        check(answer.int16())
        return offset, text

    def write(self, offset: int, text: str) -> None:
        place = struct.pack(">iq", self._partition, offset) + string(text)
        nobody = struct.pack(">i", -1) + string("") + struct.pack(">q", -1)
        body = string(self._group) + nobody + array([string(self._topic) + array([place])])
        with _connected(self._settings, self._group, _OF_GROUPS, self._seconds) as connection:
            answer = connection.ask(_COMMIT_OFFSETS, body)
        answer.int32(), answer.string(), answer.int32(), answer.int32()
        check(answer.int16())


def _connected(settings: Mapping[str, Any], id_: str, kind: int, seconds: float) -> Connection:
    """To its coordinator."""
    failure: Exception | None = None
    for server in str(settings.get("bootstrap.servers", "")).split(","):
        host, port = _address(server)
        try:
            with Connection(host, port, settings, seconds) as asked:
                _check_that_it_is_known(asked)
                answer = asked.ask(_FIND_COORDINATOR, string(id_) + struct.pack(">b", kind))
            answer.int32()
            code, _, _ = answer.int16(), answer.string(), answer.int32()
            check(code)
            return Connection(answer.string(), answer.int32(), settings, seconds)
        except OSError as error:
            failure = error
    raise failure or CannotAsk("no broker is named")


def _check_that_it_is_known(connection: Connection) -> None:
    """A broker that does not know a question closes the connection, as one does that dies."""
    answer = connection.ask(_VERSIONS, b"")
    check(answer.int16())
    known = {}
    for _ in range(answer.int32()):
        key = answer.int16()
        known[key] = range(answer.int16(), answer.int16() + 1)
    if any(each.version not in known.get(each.key, ()) for each in _NEEDED):
        raise CannotAsk("the brokers are older than Kafka 3.0, or do not know what it knew")


def _address(server: str) -> tuple[str, int]:
    """As librdkafka takes it: perhaps with a protocol before it, perhaps without a port."""
    host, colon, port = server.strip().rpartition("//")[2].rpartition(":")
    if not colon or not port.isdigit():
        host, port = server.strip().rpartition("//")[2], str(_DEFAULT_PORT)
    return host.strip("[]"), int(port)


def check(code: int) -> None:
    """An error of Kafka's protocol."""
    if code in _PASSING:
        raise NotYet(f"error {code}")
    if code in _CANNOT:
        raise CannotAsk(f"the brokers refuse it (error {code})")
    if code in _FENCED:
        raise Refused("Another process has opened this sink's transactions: it goes on, this one has to stop.")
    if code != 0:
        raise Refused(f"Kafka could not end a transaction of this sink: error {code} of its protocol.")
