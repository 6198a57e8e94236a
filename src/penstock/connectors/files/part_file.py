"""A part file while it is written: hidden, only ever appended to, and cut back to what its last snapshot knows."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from penstock.common.errors import JobExecutionError, SetupError
from penstock.functions.sink import Records

_BLOCK = 1 << 20


@dataclass
class PartFile:
    """What a snapshot keeps about a part file; `size` is how much of it is valid."""

    hidden: str
    final: str
    size: int
    created: int
    updated: int
    attempt: int = 0  # of the job that has made the file

    # The names of Flink's PartFileInfo, for rolling policies written by users.
    def get_size(self) -> int:
        return self.size

    def get_creation_time(self) -> int:
        return self.created

    def get_last_update_time(self) -> int:
        return self.updated


class RowPart:
    """Appends encoded records. Nothing is buffered: a discarded attempt must not write when it is collected."""

    def __init__(self, part: PartFile, continued: bool) -> None:
        self.part = part
        self._file = _continue(part) if continued else _create(part)

    def write(self, encoded: bytes | memoryview, now: int) -> None:
        _write_all(self._file, encoded)
        self.part.size += len(encoded)
        self.part.updated = now

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def finish(self) -> None:
        self.sync()
        self._file.close()

    def close(self) -> None:
        self._file.close()


def add_records(writer: Any, records: Records) -> None:
    """To the writer of a bulk format, as columns if it takes them."""
    if hasattr(writer, "add_batch"):
        writer.add_batch(records)
    else:
        writer.add_elements(records.values)


class BulkPart:
    """Lets a format write a whole file, which is complete only when it is finished."""

    def __init__(self, part: PartFile, factory: Any) -> None:
        self.part = part
        self._file = _create(part)
        self._writer = factory.create(self._file)

    def write(self, records: Records, now: int) -> None:
        add_records(self._writer, records)
        self.part.size = self._file.tell()
        self.part.updated = now

    def finish(self) -> None:
        self._writer.finish()
        os.fsync(self._file.fileno())
        self._file.close()

    def close(self) -> None:
        self._file.close()


def _create(part: PartFile) -> BinaryIO:
    directory = os.path.dirname(part.hidden)
    try:
        os.makedirs(directory, exist_ok=True)
        return open(part.hidden, "xb", buffering=0)
    except OSError as error:
        raise SetupError(
            f"FileSink cannot write into {directory!r}: {error.strerror}."
            " The directory must be writable for the workers of the job."
        ) from error


def _write_all(file: BinaryIO, content: bytes | memoryview) -> None:
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def own_copy(part: PartFile, hidden: str, attempt: int) -> PartFile:
    """A copy of what is valid, for another attempt: a worker of the one before may live, and write when it wakes up."""
    copy = replace(part, hidden=hidden, attempt=attempt)
    with _opened(part, "rb") as before, _create(copy) as file:
        while file.tell() < part.size and (block := before.read(min(part.size - file.tell(), _BLOCK))):
            _write_all(file, block)
        os.fsync(file.fileno())
    return copy


def _continue(part: PartFile) -> BinaryIO:
    file = _opened(part, "r+b")
    file.truncate(part.size)
    file.seek(part.size)
    return file


def _opened(part: PartFile, mode: str) -> BinaryIO:
    """The file, of which at least the valid part is there."""
    try:
        file: BinaryIO = open(part.hidden, mode, buffering=0)  # type: ignore[assignment]  # noqa: SIM115
    except FileNotFoundError:
        raise JobExecutionError(
            f"FileSink cannot go on with {part.hidden!r}: it is gone, but the job's snapshot says that it holds"
            f" {part.size} bytes that are to become {part.final!r}. Hidden files of a running job must not be"
            " deleted, and all workers must see the same file system."
        ) from None
    length = file.seek(0, os.SEEK_END)
    if length < part.size:
        file.close()
        raise JobExecutionError(
            f"FileSink cannot go on with {part.hidden!r}: it has {length} bytes, but the job's snapshot says"
            f" {part.size}. Was it changed by somebody else?"
        )
    file.seek(0)
    return file
