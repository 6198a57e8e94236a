"""Keeps snapshots in the files of a task. What counts is what the epoch record names: byte ranges of files.

The entries of all subtasks of a task go to one file, made durable once for all of them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from penstock.common.errors import JobExecutionError
from penstock.engines.resident.state_files import SUFFIX, StateFiles
from penstock.runtime.state_log import Place

_FIELDS = struct.Struct("<iiqiq")  # level, subtask, record, piece, length of the content
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = _FIELDS.size + _CHECKSUM.size
_REMOVED = -1
_SMALL_BYTES = 64  # kept in memory: the log looks at them when it forgets records

Owner = tuple[int, int]  # level, subtask


class Span(NamedTuple):
    """A byte range of a file."""

    file: str
    start: int
    end: int


def location_of(spans: Iterable[Span]) -> str:
    """As it is in the epoch record."""
    return ",".join(f"{span.file}:{span.start}-{span.end}" for span in spans)


def spans_of(location: str) -> list[Span]:
    spans = []
    for text in location.split(","):
        file, colon, ends = text.rpartition(":")
        start, dash, end = ends.partition("-")
        if not (colon and dash and file.endswith(SUFFIX) and start.isdigit() and end.isdigit()):
            raise other_engine()
        spans.append(Span(file, int(start), int(end)))
    return spans


def is_location(snapshot_id: str) -> bool:
    """Whether the resident engine has written the snapshot."""
    return f"{SUFFIX}:" in snapshot_id


def other_engine() -> JobExecutionError:
    return JobExecutionError(
        "the job's state is not in files of the resident engine: it ran on micro-batches so far. Go on with "
        "penstock.engine: micro-batch; to change the engine, stop the job with a savepoint and start from that (-s)"
    )


@dataclass(frozen=True)
class _Entry:
    file: str
    start: int  # of its header
    length: int
    content: bytes | None = None  # of small ones


class FileSnapshotStore:
    """The snapshots of one subtask: entries that count, found by scanning the spans of its location."""

    def __init__(self, files: StateFiles, owner: Owner, location: str | None = None) -> None:
        self._files = files
        self._owner = owner
        self._spans = [] if location is None else spans_of(location)
        self._entries: dict[Place, _Entry] = {}  # the oldest first
        self._removed: dict[Place, _Entry] = {}  # since the last location
        for span in self._spans:
            self._scan(span)

    def get(self, place: Place) -> bytes | None:
        entry = self._entries.get(place)
        if entry is None or entry.content is not None:
            return None if entry is None else entry.content
        with self._opened(entry.file) as file:
            file.seek(entry.start + _HEADER_BYTES)
            return _exactly(file, entry.length, entry.file)

    def put(self, place: Place, content: bytes) -> None:
        self._entries.pop(place, None)
        self._removed.pop(place, None)
        start = self._append(place, len(content), content)
        kept = bytes(content) if len(content) <= _SMALL_BYTES else None
        self._entries[place] = _Entry(self._files.name, start, len(content), kept)

    def remove(self, place: Place) -> None:
        self._removed[place] = self._entries.pop(place)

    def location(self) -> str:
        """Of all that counts now; whoever reads it later finds nothing else."""
        self._drop_spans()
        for place, entry in self._removed.items():
            if self._is_in_spans(entry):
                self._append(place, _REMOVED, b"")
        self._removed = {}
        return location_of(self._spans)

    # -- files -------------------------------------------------------------------------------------------------

    def _append(self, place: Place, length: int, content: bytes) -> int:
        files = self._files
        files.begin_entry()
        start = files.size
        fields = _FIELDS.pack(*self._owner, *place, length)
        files.write(fields + _CHECKSUM.pack(zlib.crc32(fields)), content)
        if self._spans and self._spans[-1].file == files.name:
            self._spans[-1] = self._spans[-1]._replace(end=files.size)
        else:
            self._spans.append(Span(files.name, start, files.size))
        return start

    def _drop_spans(self) -> None:
        """What lies before the oldest entry that counts is never read again."""
        oldest = next(iter(self._entries.values()), None)
        if oldest is not None:
            while self._spans[0].file != oldest.file:
                del self._spans[0]
            self._spans[0] = self._spans[0]._replace(start=oldest.start)

    def _is_in_spans(self, entry: _Entry) -> bool:
        return any(span.file == entry.file and span.start <= entry.start < span.end for span in self._spans)

    def _scan(self, span: Span) -> None:
        with self._opened(span.file) as file:
            file.seek(span.start)
            for owner, place, entry in _entries(file, span):
                if owner == self._owner:
                    self._entries.pop(place, None)
                    if entry.length != _REMOVED:
                        self._entries[place] = entry

    def _opened(self, name: str) -> BinaryIO:
        try:
            return self._files.open(name)
        except OSError as error:
            raise _damage(f"{name} cannot be read: {error}") from error


def _entries(file: BinaryIO, span: Span) -> Iterator[tuple[Owner, Place, _Entry]]:
    start = span.start
    while start < span.end:
        header = _exactly(file, _HEADER_BYTES, span.file)
        fields = header[: _FIELDS.size]
        if _CHECKSUM.unpack(header[_FIELDS.size :])[0] != zlib.crc32(fields):
            raise _damage(f"{span.file} is not what was written at byte {start}")
        level, subtask, record, piece, length = _FIELDS.unpack(fields)
        size = max(0, length)
        content = _exactly(file, size, span.file) if size <= _SMALL_BYTES else None
        yield (level, subtask), (record, piece), _Entry(span.file, start, length, content)
        start += _HEADER_BYTES + size
        file.seek(start)


def _exactly(file: BinaryIO, count: int, name: str) -> bytes:
    content = file.read(count)
    if len(content) < count:
        raise _damage(f"{name} is shorter than it was")
    return content


def _damage(what: str) -> JobExecutionError:
    return JobExecutionError(
        f"the state of the job is damaged: {what}. The job cannot go on from it; start the program as a new job from a "
        "checkpoint or savepoint, with penstock run -s PATH"
    )
