"""Puts committed part files together before anybody sees them, on the driver.

What a file is stands in its name, so that a driver that goes on after a crash needs nothing but a look at the store:

    .uncompacted-X           committed; waits, and belongs to whoever compacts this directory
    .compacting-<job>-X      taken by this job; renaming is the claim, which only one gets
    .compacted-<job>-T       complete: from here on the files that the job has taken in this bucket are superfluous
    compacted-X              visible, for ever
"""

from __future__ import annotations

import contextlib
import posixpath
import shutil
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from penstock.connectors.files.commit import Rename, sweep
from penstock.connectors.files.compaction import FileCompactor, FileCompactStrategy
from penstock.connectors.files.stored_part import name_in
from penstock.functions.sink import Committer
from penstock.storage import storage_at

_WAITING = ".uncompacted-"
_VISIBLE = "compacted-"


class CompactingCommitter(Committer):
    """The committer of a file sink with enable_compact(); without a strategy it releases what waits as it is."""

    def __init__(
        self, base_path: str, job_id: str, strategy: FileCompactStrategy | None, compactor: FileCompactor
    ) -> None:
        self._store = storage_at(base_path)
        self._job_id = job_id
        self._strategy = strategy
        self._compactor = compactor
        self._taken = f".compacting-{job_id}-"
        self._complete = f".compacted-{job_id}-"
        self._since: dict[str, int] = {}  # by bucket: the first epoch that waits
        self._sizes: dict[str, int] = {}  # of what waits

    def open(self) -> None:
        """Ends what a crash has interrupted, and takes over what an earlier job has left."""
        for bucket, names in _by_bucket(self._store.names()).items():
            if any(name.startswith(self._complete) for name in names):
                self._end_compaction(bucket, names)
            else:
                for name in names:
                    if name.startswith(self._taken):
                        self._rename(bucket, name, _WAITING + name.removeprefix(self._taken))
                    elif name.startswith(_WAITING) and _visible_names(name).intersection(names):
                        self._store.delete(posixpath.join(bucket, name))  # half of a rename
        for bucket, names in self._waiting().items():
            self._measure(bucket, names)

    def commit(self, epoch: int, committables: list[Rename]) -> None:
        for part in committables:
            bucket, final = posixpath.split(name_in(self._store, part.final))
            hidden = name_in(self._store, part.hidden)
            if self._store.exists(hidden):  # else this epoch was committed before a crash, and may be compacted already
                waiting = posixpath.join(bucket, _WAITING + final)
                self._move(hidden, waiting)
                self._measure(bucket, [_WAITING + final])
                self._since.setdefault(bucket, epoch)
        due = [
            bucket
            for bucket, size in self._sizes.items()
            if self._strategy is None or self._strategy.wants(epoch - self._since.get(bucket, 0) + 1, size)
        ]
        self._compact(due)

    def complete(self, buckets: list[str]) -> None:
        """Nothing more comes for these."""
        self._compact([bucket for bucket in buckets if bucket in self._sizes])

    def sweep(self) -> None:
        self._compact(list(self._sizes))
        sweep(self._store, self._job_id)

    # -- buckets -----------------------------------------------------------------------------------------------

    def _waiting(self) -> dict[str, list[str]]:
        waiting = {
            bucket: [name for name in names if name.startswith(_WAITING)]
            for bucket, names in _by_bucket(self._store.names()).items()
        }
        return {bucket: names for bucket, names in waiting.items() if names}

    def _measure(self, bucket: str, names: Iterable[str]) -> None:
        for name in names:
            with self._store.open(posixpath.join(bucket, name)) as file:
                self._sizes[bucket] = self._sizes.get(bucket, 0) + file.seek(0, 2)

    def _compact(self, buckets: list[str]) -> None:
        if not buckets:
            return
        waiting = self._waiting()
        with ThreadPoolExecutor(1 if self._strategy is None else self._strategy.threads) as threads:
            list(threads.map(lambda bucket: self._compact_bucket(bucket, waiting.get(bucket, [])), buckets))
        for bucket in buckets:
            self._sizes.pop(bucket, None)
            self._since.pop(bucket, None)

    def _compact_bucket(self, bucket: str, names: list[str]) -> None:
        if not self._compactor.concatenates or (len(names) == 1 and not self._compactor.delimiter):
            for name in names:
                final = name.removeprefix(_WAITING)
                self._rename(bucket, name, final if self._strategy is None else _VISIBLE + final)
            return
        taken = [name for name in names if self._rename(bucket, name, self._taken + name.removeprefix(_WAITING))]
        if taken:
            finals = [name.removeprefix(_WAITING) for name in taken]
            with self._store.writer(posixpath.join(bucket, self._complete + _VISIBLE + finals[0])) as target:
                for final in finals:
                    with self._store.open(posixpath.join(bucket, self._taken + final)) as file:
                        shutil.copyfileobj(file, target, 1 << 20)
                    target.write(self._compactor.delimiter)
            self._end_compaction(bucket, [self._complete + _VISIBLE + finals[0], *(self._taken + f for f in finals)])

    def _end_compaction(self, bucket: str, names: list[str]) -> None:
        for name in names:
            if name.startswith(self._taken):
                self._store.delete(posixpath.join(bucket, name))
        for name in names:
            if name.startswith(self._complete):
                self._rename(bucket, name, name.removeprefix(self._complete))

    def _rename(self, bucket: str, name: str, new_name: str) -> bool:
        """False when another one was quicker."""
        with contextlib.suppress(FileNotFoundError):
            self._move(posixpath.join(bucket, name), posixpath.join(bucket, new_name))
            return True
        return False

    def _move(self, name: str, new_name: str) -> None:
        """May be repeated: on an object store a crash can come between the copy and the removal of the old name."""
        if not self._store.appends and self._store.exists(new_name):
            self._store.delete(name)
        else:
            self._store.rename(name, new_name)


def _visible_names(waiting: str) -> set[str]:
    """Of a file that was alone, as compacted or released: names of part files are never used again."""
    final = waiting.removeprefix(_WAITING)
    return {final, _VISIBLE + final}


def _by_bucket(names: list[str]) -> dict[str, list[str]]:
    buckets: dict[str, list[str]] = defaultdict(list)
    for name in names:
        bucket, base = posixpath.split(name)
        buckets[bucket].append(base)
    return buckets
