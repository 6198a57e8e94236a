"""A part file while it is written: hidden, only ever appended to, and cut back to what its last snapshot knows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, BinaryIO

from penstock.common.errors import JobExecutionError, SetupError


@dataclass
class PartFile:
    """What a snapshot keeps about a part file; `size` is how much of it is valid."""

    hidden: str
    final: str
    size: int
    created: int
    updated: int

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

    def write(self, encoded: bytes, now: int) -> None:
        view = memoryview(encoded)
        while view:
            view = view[self._file.write(view) :]
        self.part.size += len(encoded)
        self.part.updated = now

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def finish(self) -> None:
        self.sync()
        self._file.close()

    def close(self) -> None:
        self._file.close()


class BulkPart:
    """Lets a format write a whole file, which is complete only when it is finished."""

    def __init__(self, part: PartFile, factory: Any) -> None:
        self.part = part
        self._file = _create(part)
        self._writer = factory.create(self._file)

    def write(self, records: list[Any], now: int) -> None:
        self._writer.add_elements(records)
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


def _continue(part: PartFile) -> BinaryIO:
    try:
        file = open(part.hidden, "r+b", buffering=0)  # noqa: SIM115 - the writer closes it
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
    file.truncate(part.size)
    file.seek(part.size)
    return file
