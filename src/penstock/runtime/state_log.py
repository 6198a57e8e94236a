"""A subtask's snapshot in a state store: a log of deltas, and now and then everything, so that the log stays short.

The store is Spark's: it commits or discards its version together with the batch, so there is no second durability
protocol here. State in memory is written as a whole when the log has grown as large as that. State on disk may be too
large for that: its pages are written one after the other, a few after each delta, and replace their older copies.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from penstock.common.errors import JobExecutionError
from penstock.runtime.state.disk import PAGES, DiskStore

_PIECE_BYTES = 8 << 20
_SMALL_LOG_BYTES = 8 << 20
_LONG_LOG = 1000
_PAGE_BYTES_PER_DELTA_BYTE = 1  # so the log never grows to more than twice the pages
_HEAD = (-1, 0)
_REST = (-2, -3)  # two places: the older one counts until all pages have been written after the newer one
_FIRST_PAGE = -10
_UNLIMITED = 1 << 62
_CHECKSUM = struct.Struct("<I")


Place = tuple[int, int]  # a record, and a piece of it


class SnapshotStore(Protocol):
    """Where a subtask's snapshots are kept; whoever has it decides when what was written counts."""

    def get(self, place: Place) -> bytes | None: ...

    def put(self, place: Place, content: bytes) -> None: ...

    def remove(self, place: Place) -> None: ...


class Snapshotted(Protocol):
    """What the log needs of a container."""

    store: DiskStore | None

    def snapshot(self, full: bool = False) -> bytes: ...

    def load(self, snapshots: Iterable[bytes]) -> None:
        """Applies them one after the other."""


@dataclass(frozen=True)
class Token:
    """Names a snapshot: its number, and the attempt that wrote it."""

    seq: int
    id: str


@dataclass(frozen=True)
class _Pages:
    """Where the pages of state on disk stand."""

    seqs: tuple[int, ...] = (0,) * PAGES  # the snapshot that each one was written after
    sizes: tuple[int, ...] = (0,) * PAGES
    next: int = 0
    round_seq: int = 0  # when the present round through all pages began
    round_bytes: int = 0  # of the log since then
    rounds: int = 0  # begun

    def written(self, page: int, seq: int, size: int) -> _Pages:
        seqs, sizes = list(self.seqs), list(self.sizes)
        seqs[page], sizes[page] = seq, size
        return replace(self, seqs=tuple(seqs), sizes=tuple(sizes), next=page + 1)


@dataclass(frozen=True)
class _Head:
    """Where the log stands: read first in every batch. Its records are those after `base_seq`."""

    token: Token
    base_seq: int
    base_bytes: int
    log_bytes: int
    rest: int = _REST[0]
    pages: _Pages | None = field(default=None)


class StateLog:
    """Records `seq -> (id, parent id, delta)`, each cut into pieces that Spark's socket protocol carries well."""

    def __init__(self, store: SnapshotStore) -> None:
        self._records = store
        self._head: _Head | None = None

    def token(self) -> Token | None:
        """The newest committed snapshot of the current subtask."""
        stored = self._records.get(_HEAD)
        self._head = None if stored is None else _unsealed(stored, "its head")
        return None if self._head is None else self._head.token

    # -- reading -----------------------------------------------------------------------------------------------

    def leads_on_from(self, cached: Token | None) -> bool:
        """Whether a container at that snapshot only misses some deltas, or nothing at all."""
        head = self._head
        if head is None or cached is None:
            return False
        if cached == head.token:
            return True
        return head.base_seq <= cached.seq < head.token.seq and self._read(cached.seq + 1)[1] == cached.id

    def replay(self, container: Snapshotted, since: Token | None) -> None:
        """Brings a container up to date: one at that snapshot, or a new one."""
        if self._head is not None:
            container.load(self._missed(self._head, container.store, since))

    def _missed(self, head: _Head, store: DiskStore | None, since: Token | None) -> Iterator[bytes]:
        pages = head.pages if since is None else None
        if since is None:
            yield self._base(head, store)
        for seq in range((head.base_seq if since is None else since.seq) + 1, head.token.seq + 1):
            if pages is not None and store is not None:
                store.replaying(seq, pages.seqs)
            yield self._read(seq)[2]
        if store is not None:
            store.replayed()

    def _base(self, head: _Head, store: DiskStore | None) -> bytes:
        """What was written as a whole; pages of state on disk go to its store."""
        if head.pages is not None and store is not None:
            for page, size in enumerate(head.pages.sizes):
                if size:
                    store.load_page(self._read(_FIRST_PAGE - page))
        return self._read(head.rest if head.pages is not None else head.base_seq)[2]  # type: ignore[no-any-return]

    # -- writing -----------------------------------------------------------------------------------------------

    def wants_full(self) -> bool:
        """Whether the log has grown so much that everything should be written instead of a delta."""
        head = self._head
        if head is None:
            return True
        if head.pages is not None:
            return False
        too_long = head.token.seq - head.base_seq >= _LONG_LOG
        return too_long or head.log_bytes > max(head.base_bytes, _SMALL_LOG_BYTES)

    def append(self, token: Token, delta: bytes, full: bool) -> None:
        """Writes the snapshot of state in memory: a delta, or everything."""
        if full and self._head is not None:
            self._forget(range(self._head.base_seq, self._head.token.seq + 1))
        self._add(token, delta)
        if full or self._head is None:
            self._head = _Head(token, token.seq, len(delta), 0)
        self._write_head()

    def append_paged(self, token: Token, delta: bytes, full: bool, container: Snapshotted) -> None:
        """Writes the snapshot of state on disk: a delta and some pages, or all of them."""
        head = self._head
        if head is None or head.pages is None:
            head = _Head(token, token.seq - 1, 0, 0, pages=_Pages())
        elif full:
            head = replace(head, pages=replace(head.pages, next=0))
        budget = _UNLIMITED if full else self._budget(head, len(delta))
        self._head = head
        self._add(token, delta)
        while budget > 0:
            size, through = self._write_page(token, container)
            budget = 0 if through else budget - size - 1
        self._write_head()

    def _add(self, token: Token, delta: bytes) -> None:
        head = self._head
        self._write(token.seq, _record(token, head, delta))
        if head is not None:
            self._head = replace(head, token=token, log_bytes=head.log_bytes + len(delta))

    def _write_head(self) -> None:
        self._records.put(_HEAD, _sealed(self._head))

    def _budget(self, head: _Head, delta_bytes: int) -> int:
        """How many bytes of pages are written after a delta."""
        if head.token.seq - head.base_seq >= _LONG_LOG:
            return max(head.base_bytes // _LONG_LOG, delta_bytes) * _PAGE_BYTES_PER_DELTA_BYTE
        return delta_bytes * _PAGE_BYTES_PER_DELTA_BYTE if head.log_bytes > _SMALL_LOG_BYTES else 0

    def _write_page(self, token: Token, container: Snapshotted) -> tuple[int, bool]:
        """Writes the next page; True if it was the last one, so that older deltas are not needed any more."""
        head, store = self._head, container.store
        assert head is not None and head.pages is not None and store is not None
        pages, other = head.pages, _REST[head.rest == _REST[0]]
        if pages.next == 0:
            if pages.rounds >= 2:  # by then both places are taken
                self._forget([other])
            self._write(other, _record(token, head, container.snapshot(full=True)))
            pages = replace(pages, round_seq=token.seq, round_bytes=head.log_bytes, rounds=pages.rounds + 1)
        page = pages.next
        content = store.page(page)
        if pages.sizes[page]:
            self._forget([_FIRST_PAGE - page])
        if content:
            self._write(_FIRST_PAGE - page, _sealed(content))
        pages = pages.written(page, token.seq, len(content))
        head = replace(head, pages=pages, base_bytes=sum(pages.sizes))
        through = pages.next == PAGES
        if through:
            self._forget(range(head.base_seq + 1, pages.round_seq + 1))
            head = replace(
                head,
                base_seq=pages.round_seq,
                log_bytes=head.log_bytes - pages.round_bytes,
                rest=other,
                pages=replace(pages, next=0),
            )
        self._head = head
        return len(content), through

    # -- records in pieces -------------------------------------------------------------------------------------

    def _write(self, seq: int, content: bytes) -> None:
        pieces = [content[i : i + _PIECE_BYTES] for i in range(0, len(content), _PIECE_BYTES)]
        for piece, part in enumerate(pieces):
            self._records.put((seq, piece), part)
        self._records.put((seq, -1), str(len(pieces)).encode())

    def _read(self, seq: int) -> Any:
        return _unsealed(b"".join(self._pieces(seq)), f"record {seq}")

    def _pieces(self, seq: int) -> Iterator[bytes]:
        for piece in range(self._count(seq)):
            yield self._stored(seq, piece)

    def _count(self, seq: int) -> int:
        return int(self._stored(seq, -1))

    def _stored(self, seq: int, piece: int) -> bytes:
        stored = self._records.get((seq, piece))
        if stored is None:
            raise _damage(f"record {seq} is incomplete")
        return stored

    def _forget(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            for piece in range(-1, self._count(seq)):
                self._records.remove((seq, piece))


def _record(token: Token, head: _Head | None, delta: bytes) -> bytes:
    return _sealed((token.id, None if head is None else head.token.id, delta))


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
