"""The files of one task in one deployment, into which it writes the snapshots of its subtasks.

Names belong to one deployment: a process that was replaced, and does not know it, writes where nobody reads.
"""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path
from typing import BinaryIO, Protocol

from penstock.common.errors import PenstockError
from penstock.storage.base import Storage
from penstock.storage.locations import storage_at

SUFFIX = ".state"
SEGMENT_BYTES = 64 << 20
_MARK = "this-is-the-place"


class StateFiles(Protocol):
    """Written by one thread, made durable by another."""

    name: str  # of the file that entries go to
    size: int  # of what it has

    def begin_entry(self) -> None:
        """An entry is not divided between files: another file begins here if it is time for it."""

    def write(self, header: bytes, content: bytes) -> None: ...

    def make_durable(self) -> None:
        """Everything that was written before the call. Fails when they are closed: part of it may be lost by then."""

    def open(self, name: str) -> BinaryIO:
        """Any file of the place, also of other deployments."""

    def close(self) -> None: ...


def mark_state_place(storage: Storage) -> None:
    """By the driver: whoever finds the mark sees the same files."""
    storage.write(_MARK, b"")


def why_no_state_place(location: str) -> str | None:
    """Why files that are written there would not be seen by the driver; None if they would."""
    try:
        return None if storage_at(location).exists(_MARK) else f"{location} is not the same place there"
    except (OSError, PenstockError) as error:
        return str(error)


def state_files_at(location: str, prefix: str) -> StateFiles:
    storage = storage_at(location)
    return AppendedFiles(Path(storage.location), prefix) if storage.appends else StoredObjects(storage, prefix)


class AppendedFiles:
    """Files of a directory that only grow."""

    def __init__(self, directory: Path, prefix: str, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._directory = directory
        self._prefix = prefix
        self._segment_bytes = segment_bytes
        self._segment = -1
        self._descriptor = -1
        self.size = segment_bytes  # so that the first entry begins a file
        self.name = ""
        self._lock = threading.Lock()
        self._sync = threading.Lock()  # nothing is closed while it is made durable
        self._closed = False
        self._written: set[int] = set()  # descriptors with what may not be durable
        self._open: list[int] = []
        self._new_names = False

    def begin_entry(self) -> None:
        if self.size >= self._segment_bytes:
            self._segment += 1
            self.name = f"{self._prefix}-{self._segment:06d}{SUFFIX}"
            path = self._directory / self.name
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            self.size = 0
            with self._lock:
                self._open.append(self._descriptor)
                self._new_names = True

    def write(self, header: bytes, content: bytes) -> None:
        left: list[memoryview] = [memoryview(header), memoryview(content)]
        with self._lock:
            self._written.add(self._descriptor)
        while left:
            count = os.writev(self._descriptor, left)
            self.size += count
            while left and count >= len(left[0]):
                count -= len(left.pop(0))
            if left and count:
                left[0] = left[0][count:]

    def make_durable(self) -> None:
        with self._sync:
            with self._lock:
                _refuse(self._closed)
                written, self._written = self._written, set()
                new_names, self._new_names = self._new_names, False
            for descriptor in written:
                os.fdatasync(descriptor)
            if new_names:
                _sync_directory(self._directory)

    def open(self, name: str) -> BinaryIO:
        return open(self._directory / name, "rb")

    def close(self) -> None:
        with self._sync, self._lock:
            for descriptor in self._open:
                os.close(descriptor)
            self._open, self._closed = [], True


def _refuse(closed: bool) -> None:
    """A report that still waits for its snapshot must not go out when its generation has ended meanwhile."""
    if closed:
        raise PenstockError("its generation has ended")


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class StoredObjects:
    """For stores whose files cannot grow: what was written since the last time becomes a file of its own."""

    def __init__(self, storage: Storage, prefix: str, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._storage = storage
        self._prefix = prefix
        self._segment_bytes = segment_bytes
        self._segment = -1
        self.size = segment_bytes
        self.name = ""
        self._lock = threading.Lock()
        self._closed = False
        self._sent = -1  # the last segment that make_durable() has taken: nothing may be added to it
        self._unsent: dict[str, bytearray] = {}  # by name, the oldest first

    def begin_entry(self) -> None:
        with self._lock:
            if self.size >= self._segment_bytes or self._segment <= self._sent:
                self._segment += 1
                self.name = f"{self._prefix}-{self._segment:06d}{SUFFIX}"
                self.size = 0

    def write(self, header: bytes, content: bytes) -> None:
        with self._lock:
            unsent = self._unsent.setdefault(self.name, bytearray())
            unsent += header
            unsent += content
            self.size = len(unsent)

    def make_durable(self) -> None:
        with self._lock:
            _refuse(self._closed)
            self._sent = self._segment
            unsent = dict(self._unsent)
        for name, content in unsent.items():
            self._storage.write(name, bytes(content))
            with self._lock:
                self._unsent.pop(name, None)  # it is gone if the generation has ended meanwhile

    def open(self, name: str) -> BinaryIO:
        with self._lock:
            if name in self._unsent:
                return io.BytesIO(self._unsent[name])
        return self._storage.open(name)

    def close(self) -> None:
        with self._lock:
            self._unsent, self._closed = {}, True
