"""Says of a bucket that it is complete: a file in it, written once event time has passed the bucket everywhere.

Writers roll the part files of buckets that are over, and tell how far event time is. The committer waits for the
slowest. Which buckets wait for their marker stands in the store, as a hidden file in each: a driver that goes on after
a crash needs nothing else.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common.errors import ProgramError
from penstock.connectors.files.commit import FileCommitter, Rename
from penstock.connectors.files.compacting import CompactingCommitter
from penstock.connectors.files.stored_part import name_in
from penstock.functions.sink import Committer
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.storage import storage_at

_UNMARKED = ".unmarked"  # whoever writes into this directory next takes it over


@dataclass(frozen=True)
class SuccessMarkers:
    """How a file sink marks its buckets; `end_of` says at which event time, in milliseconds, a bucket is over."""

    end_of: Callable[[str], int]
    file_name: str = "_SUCCESS"

    def __post_init__(self) -> None:
        if not callable(self.end_of):
            raise ProgramError(f"Success markers need a function from a bucket to a time, not {self.end_of!r}.")
        if not self.file_name or "/" in self.file_name:
            raise ProgramError(f"A success marker is a file in its bucket, so {self.file_name!r} is no name for it.")


@dataclass(frozen=True)
class EventTime:
    """A committable: how far a subtask is; every file of the buckets before it is handed over."""

    subtask: int
    parallelism: int
    watermark: int


class MarkingCommitter(Committer):
    """Around the committer that gives files their names."""

    def __init__(self, base_path: str, markers: SuccessMarkers, inner: FileCommitter | CompactingCommitter) -> None:
        self._store = storage_at(base_path)
        self._markers = markers
        self._inner = inner
        self._times: dict[int, int] = {}  # by subtask
        self._parallelism = 0
        self._unmarked: set[str] = set()

    def open(self) -> None:
        self._inner.open()
        self._unmarked = {
            posixpath.dirname(name) for name in self._store.names() if posixpath.basename(name) == _UNMARKED
        }

    def commit(self, epoch: int, committables: list[Any]) -> None:
        renames = [each for each in committables if isinstance(each, Rename)]
        for bucket in {posixpath.dirname(name_in(self._store, part.final)) for part in renames} - self._unmarked:
            self._store.write(posixpath.join(bucket, _UNMARKED), b"")
            self._unmarked.add(bucket)
        self._inner.commit(epoch, renames)
        for time in committables:
            if isinstance(time, EventTime):
                self._times[time.subtask] = time.watermark
                self._parallelism = time.parallelism
        if self._parallelism and len(self._times) == self._parallelism:
            self._mark_what_is_over()

    def _mark_what_is_over(self) -> None:
        reached = min(self._times.values(), default=MIN_TIMESTAMP)
        buckets = [bucket for bucket in self._unmarked if self._markers.end_of(bucket) <= reached]
        self._inner.complete(buckets)
        for bucket in buckets:
            self._store.write(posixpath.join(bucket, self._markers.file_name), b"")
            self._store.delete(posixpath.join(bucket, _UNMARKED))
            self._unmarked.discard(bucket)

    def sweep(self) -> None:
        """Who has not told its time to this driver had finished before: its time is over."""
        self._inner.sweep()
        self._mark_what_is_over()

    def close(self) -> None:
        self._inner.close()
