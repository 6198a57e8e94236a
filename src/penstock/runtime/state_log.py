"""A subtask's snapshot in a state store: a log of deltas that is replaced by a full one now and then.

The store is Spark's: it commits or discards its version together with the batch, so there is no second durability
protocol here.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.common.errors import JobExecutionError

_PIECE_BYTES = 8 << 20
_SMALL_LOG_BYTES = 8 << 20
_LONG_LOG = 200
_HEAD = (-1, 0)
_CHECKSUM = struct.Struct("<I")


class StateStore(Protocol):
    """What is used of pyspark's StatefulProcessorHandle: state of the subtask whose turn it is."""

    def getMapState(self, stateName: str, userKeySchema: str, valueSchema: str) -> Any: ...


@dataclass(frozen=True)
class Token:
    """Names a snapshot: its number, and the attempt that wrote it."""

    seq: int
    id: str


@dataclass(frozen=True)
class _Head:
    """Where the log stands: read first in every batch."""

    token: Token
    base_seq: int
    base_bytes: int
    log_bytes: int


class StateLog:
    """Records `seq -> (id, parent id, delta)`, each cut into pieces that Spark's socket protocol carries well."""

    def __init__(self, store: StateStore) -> None:
        # One state instead of two: making a state known to Spark costs round trips in every batch.
        self._records = store.getMapState("log", "seq long, piece int", "content binary")
        self._head: _Head | None = None

    def token(self) -> Token | None:
        """The newest committed snapshot of the current subtask."""
        stored = self._records.getValue(_HEAD)
        self._head = None if stored is None else _unsealed(bytes(stored[0]), "its head")
        return None if self._head is None else self._head.token

    def since(self, cached: Token | None) -> tuple[list[bytes], bool]:
        """The deltas to apply, and whether to the cached container (True) or to a fresh one (False)."""
        head = self._head
        if head is None:
            return [], False
        if cached == head.token:
            return [], True
        if cached is not None and head.base_seq <= cached.seq < head.token.seq:
            missing = [self._read(seq) for seq in range(cached.seq + 1, head.token.seq + 1)]
            if missing[0][1] == cached.id:
                return [delta for _, _, delta in missing], True
        return [self._read(seq)[2] for seq in range(head.base_seq, head.token.seq + 1)], False

    def wants_full(self) -> bool:
        """Whether the log has grown so much that everything should be written instead of a delta."""
        head = self._head
        if head is None:
            return True
        too_long = head.token.seq - head.base_seq >= _LONG_LOG
        return too_long or head.log_bytes > max(head.base_bytes, _SMALL_LOG_BYTES)

    def append(self, token: Token, delta: bytes, full: bool) -> None:
        head = self._head
        parent = None if head is None else head.token.id
        self._write(token.seq, _sealed((token.id, parent, delta)))
        if full or head is None:
            if head is not None:
                for seq in range(head.base_seq, head.token.seq + 1):
                    self._remove(seq)
            self._head = _Head(token, token.seq, len(delta), 0)
        else:
            self._head = _Head(token, head.base_seq, head.base_bytes, head.log_bytes + len(delta))
        self._records.updateValue(_HEAD, (_sealed(self._head),))

    def _write(self, seq: int, content: bytes) -> None:
        pieces = [content[i : i + _PIECE_BYTES] for i in range(0, len(content), _PIECE_BYTES)]
        for piece, part in enumerate(pieces):
            self._records.updateValue((seq, piece), (part,))
        self._records.updateValue((seq, -1), (str(len(pieces)).encode(),))

    def _read(self, seq: int) -> Any:
        return _unsealed(b"".join(self._pieces(seq)), f"record {seq}")

    def _pieces(self, seq: int) -> Iterator[bytes]:
        for piece in range(self._count(seq)):
            yield self._stored(seq, piece)

    def _count(self, seq: int) -> int:
        return int(self._stored(seq, -1))

    def _stored(self, seq: int, piece: int) -> bytes:
        stored = self._records.getValue((seq, piece))
        if stored is None:
            raise _damage(f"record {seq} is incomplete")
        return bytes(stored[0])

    def _remove(self, seq: int) -> None:
        for piece in range(-1, self._count(seq)):
            self._records.removeKey((seq, piece))


def _sealed(value: Any) -> bytes:
    """With a checksum in front: Spark's store does not notice every bit that has changed in its files."""
    content = pickle.dumps(value, 5)
    return _CHECKSUM.pack(zlib.crc32(content)) + content


def _unsealed(sealed: bytes, what: str) -> Any:
    content = memoryview(sealed)[_CHECKSUM.size :]
    if len(sealed) < _CHECKSUM.size or _CHECKSUM.unpack_from(sealed)[0] != zlib.crc32(content):
        raise _damage(f"{what} is not what was written")
    return pickle.loads(content)


def _damage(what: str) -> JobExecutionError:
    return JobExecutionError(
        f"the state of the job in Spark's state store is damaged: {what}. The job cannot go on from it; start the "
        "program as a new job from a checkpoint or savepoint, with penstock run -s PATH"
    )
