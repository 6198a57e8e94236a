"""How far a table was read: first its rows, key by key, then its changes, by place in the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Visibility:
    """Which transactions a query has seen: what `pg_current_snapshot()` says."""

    xmin: int  # all before it have ended
    xmax: int  # it and all after it had not begun
    running: frozenset[int] = frozenset()

    @staticmethod
    def parse(text: str) -> Visibility:
        xmin, xmax, running = text.split(":")
        return Visibility(int(xmin), int(xmax), frozenset(map(int, filter(None, running.split(",")))))

    def includes(self, xid: int) -> bool:
        """A committed transaction, by the lower 32 bits of its number, which are all that the log has."""
        distance = (xid - self.xmax + (1 << 31)) % (1 << 32) - (1 << 31)
        number = self.xmax + distance
        return number < self.xmin or (number < self.xmax and number not in self.running)


@dataclass(frozen=True)
class Chunk:
    """Rows up to a key (None: to the end of the table), read at one moment."""

    upto: Key | None
    seen: Visibility


@dataclass(frozen=True)
class SnapshotPosition:
    """The table was read up to a key; its changes wait in the log from a place on."""

    lsn: int
    chunks: tuple[Chunk, ...] = ()

    @property
    def after(self) -> Key | None:
        return self.chunks[-1].upto if self.chunks else None

    def with_chunk(self, chunk: Chunk) -> SnapshotPosition:
        chunks = self.chunks
        if chunks and chunks[-1].seen == chunk.seen:  # nothing was written in between: one chunk, read in pieces
            chunks = chunks[:-1]
        return SnapshotPosition(self.lsn, (*chunks, chunk))


@dataclass(frozen=True)
class LogPosition:
    """The log was read up to the end of a transaction, and so many changes of the next one.

    What chunks have seen is not to be told again: it is in the log before `seen_until`.
    """

    lsn: int
    skip: int = 0
    seen_until: int = 0
    chunks: tuple[Chunk, ...] = ()

    def was_seen(self, key: Key, xid: int) -> bool:
        """Whether a change of this key is in the rows that were read."""
        for chunk in self.chunks:
            if chunk.upto is None or key <= chunk.upto:
                return chunk.seen.includes(xid)
        return False

    def at(self, lsn: int, skip: int = 0) -> LogPosition:
        passed = lsn > self.seen_until
        return LogPosition(lsn, skip, 0 if passed else self.seen_until, () if passed else self.chunks)


def lsn_of(text: str) -> int:
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def lsn_text(lsn: int) -> str:
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"
