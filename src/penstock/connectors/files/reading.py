"""Files as a source: the driver finds them and hands out ranges, the workers read the records of their ranges.

A position is JSON: the files that are not read to their end as [path, extent, done, number], together with those
that the epoch before it has finished; how many files were found so far; and, when directories are watched, a
fingerprint of every path ever seen.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from penstock.common.errors import JobExecutionError, PenstockError
from penstock.connectors.files.discovery import check_paths_exist, find_files
from penstock.formats.file_formats import FileFormat
from penstock.functions.bad_records import BadRecord, BadRecords
from penstock.runtime.batch import Batch, Control
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader

_RECORDS_PER_BATCH = 32_768
_ROWS_OF_COLUMNS = 65_536  # what a batch costs by itself weighs more where a record costs nearly nothing
_FINGERPRINT_BYTES = 8

_EXTENT, _DONE = 1, 2
PendingFile = list[Any]  # path, extent, done, number: a list because it goes through JSON
Range = tuple[str, int, int, int]  # path, start, end, extent
Read = list[Any] | Batch | BadRecord


class FileReader(WorkReader):
    def __init__(self, file_format: FileFormat, bad_records: BadRecords | None = None) -> None:
        self._format = file_format
        self.bad_records = bad_records

    def read(self, work: Iterable[Range]) -> Iterator[Batch | Control | BadRecord]:
        for path, start, end, extent in work:
            for records in _read(path, self._format.read(path, start, end, extent)):
                if isinstance(records, BadRecord):
                    yield records
                    continue
                batch = records if isinstance(records, Batch) else Batch(records)
                step = _RECORDS_PER_BATCH if batch.columns is None else _ROWS_OF_COLUMNS
                for first in range(0, len(batch), step):
                    yield batch.slice(first, first + step)


def _read(path: str, records: Iterator[Read]) -> Iterator[Read]:
    try:
        with _naming(path):
            yield from records
    except FileNotFoundError as error:
        raise JobExecutionError(
            f"{path!r} was there when this job planned to read it, and is gone. Files may be moved or removed when"
            " their records are in a completed checkpoint or in the results of the job."
        ) from error


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Whatever goes wrong in a file, its path is told: a directory may have thousands."""
    try:
        yield
    except (PenstockError, FileNotFoundError):  # the first says so itself, and the second is a case of its own
        raise
    except Exception as error:
        raise JobExecutionError(
            f"{path!r} cannot be read: {type(error).__name__}: {error}. Files that are still written have to be"
            " elsewhere, or have names that begin with a dot, until they are complete."
        ) from error


class Files(SourcePlanner):
    """All files below some paths, once; or, with an interval, also those that appear later."""

    def __init__(
        self,
        file_format: FileFormat,
        paths: list[str],
        discovery_interval_ms: int | None = None,
        clock: Clock = system_clock,
        bad_records: BadRecords | None = None,
        may_be_missing: bool = False,
    ) -> None:
        self._bad_records = bad_records
        self._may_be_missing = may_be_missing  # what is not there has no files
        self.bounded = discovery_interval_ms is None
        self._format = file_format
        self._paths = paths
        self._interval = discovery_interval_ms
        self._clock = clock
        self._next_scan = 0
        self._seen = _Seen("")
        self._parallelism = 1
        self._rate_of: tuple[str, float] | None = None

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        self._parallelism = parallelism

    # -- positions ---------------------------------------------------------------------------------------------

    def initial_position(self, parallelism: int) -> Any:
        if not self._may_be_missing:
            check_paths_exist(self._paths)
        self._seen = _Seen("")
        return self._discover({"pending": [], "found": 0, "seen": ""})

    def advance(self, position: Any, budget: int) -> Any:
        found = self._discover(position) if self._interval is not None and self._scan_is_due() else position
        unfinished = [file for file in found["pending"] if file[_DONE] < file[_EXTENT]]
        if not unfinished:
            return position
        left = float(budget)
        # Units that cannot be cut, as whole files, go to the subtasks in turn: an epoch has one for each of them.
        due = self._parallelism if self._format.block == 1 else 1
        pending: list[PendingFile] = []
        for path, extent, done, number in unfinished:
            if left > 0 or due > 0:
                rate = self._rate(path, extent)
                taken = min(extent - done, max(1, due, math.ceil(left / rate)))
                left -= taken * rate
                due -= taken
                done += taken
            pending.append([path, extent, done, number])
        return {**found, "pending": pending}

    def exhausted(self, position: Any) -> bool:
        return self.bounded and not self._more(position)

    def _more(self, position: Any) -> bool:
        return any(done < extent for _, extent, done, _ in position["pending"])

    def _scan_is_due(self) -> bool:
        return self._clock() >= self._next_scan

    def _rate(self, path: str, extent: int) -> float:
        """Remembered for one file only: files are read one after the other."""
        if self._rate_of is None or self._rate_of[0] != path:
            try:
                with _naming(path):
                    self._rate_of = path, max(1e-9, self._format.records_per_unit(path, extent))
            except FileNotFoundError:  # which the reader will say
                return 1.0
        return self._rate_of[1]

    def _discover(self, position: Any) -> Any:
        """Adds the files that were not there before; a path counts once, whatever happens to its file later."""
        pending, found = list(position["pending"]), position["found"]
        # The job has gone back, or the last look failed half-way: what it had met is not in any position.
        if self._seen.grown or self._seen.packed != position["seen"]:
            self._seen = _Seen(position["seen"])
        seen = self._seen
        for path, size in find_files(self._paths, seen.knows):
            if path in seen:
                continue
            if not size and self._interval is not None:
                continue  # somebody may have just begun to write it
            try:
                with _naming(path):
                    extent = self._format.extent(path, size)
            except FileNotFoundError:  # it has another name by now, or none
                continue
            seen.add(path)
            if extent:
                pending.append([path, extent, 0, found])
                found += 1
        if self._interval is not None:
            self._next_scan = self._clock() + self._interval
        # Only who looks again has to remember what it has seen.
        return {"pending": pending, "found": found, "seen": seen.pack() if self._interval is not None else ""}

    # -- work --------------------------------------------------------------------------------------------------

    def assignments(self, start: Any, end: Any, parallelism: int) -> dict[int, Assignment]:
        before = {file[0]: file[_DONE] for file in start["pending"]}
        work: dict[int, list[Range]] = {}
        for path, extent, done, number in end["pending"]:
            for subtask, piece in self._pieces(path, before.get(path, 0), done, extent, number, parallelism):
                work.setdefault(subtask, []).append(piece)
        busy = self._subtasks_with_more(end, parallelism) if self.bounded else set(range(parallelism))
        return {
            subtask: Assignment(work.get(subtask), subtask not in busy)
            for subtask in range(parallelism)
            if subtask in work or subtask not in busy
        }

    def _pieces(
        self, path: str, start: int, end: int, extent: int, number: int, parallelism: int
    ) -> Iterator[tuple[int, Range]]:
        """Cuts a range at the borders of its file's blocks, which take turns over the subtasks in all epochs."""
        if parallelism == 1:
            if end > start:
                yield 0, (path, start, end, extent)
            return
        block = self._format.block
        while start < end:
            stop = min(end, (start // block + 1) * block)
            yield (number + start // block) % parallelism, (path, start, stop, extent)
            start = stop

    def _subtasks_with_more(self, position: Any, parallelism: int) -> set[int]:
        block, busy = self._format.block, set[int]()
        for _, extent, done, number in position["pending"]:
            left = range(done // block, -(-extent // block)) if done < extent else range(0)
            busy.update((number + index) % parallelism for index in left[:parallelism])
        return busy

    def reader(self) -> WorkReader:
        return FileReader(self._format, self._bad_records)


class _Seen:
    """The paths that were found so far, as fingerprints; those that this process has met also by name."""

    def __init__(self, packed: str) -> None:
        self.packed = packed
        self._raw = bytearray(base64.b64decode(packed))
        step = _FINGERPRINT_BYTES
        self._fingerprints = {bytes(self._raw[at : at + step]) for at in range(0, len(self._raw), step)}
        self._names: set[str] = set()
        self.grown = False
        self.knows = self._names.__contains__

    def __contains__(self, path: str) -> bool:
        there = _fingerprint(path) in self._fingerprints
        if there:
            self._names.add(path)
        return there

    def add(self, path: str) -> None:
        self._names.add(path)
        fingerprint = _fingerprint(path)
        self._fingerprints.add(fingerprint)
        self._raw += fingerprint
        self.grown = True

    def pack(self) -> str:
        if self.grown:
            self.grown = False
            self.packed = base64.b64encode(self._raw).decode("ascii")
        return self.packed


def _fingerprint(path: str) -> bytes:
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=_FINGERPRINT_BYTES).digest()
