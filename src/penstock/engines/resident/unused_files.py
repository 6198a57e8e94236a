"""Removes files of the state that no epoch record names any more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from penstock.engines.resident.file_state_store import spans_of
from penstock.engines.resident.state_files import SUFFIX
from penstock.storage.base import Storage


class UnusedFiles:
    """Knows the files by name: listing a store at every epoch would take longer than the epoch.

    Those that a driver which has taken the job over writes are not among them.
    """

    def __init__(self, storage: Storage, epochs_ahead: int) -> None:
        self._storage = storage
        self._epochs_ahead = epochs_ahead
        self._known: set[str] = set()
        self._running = ""
        self._records = 0
        self._idle_since: dict[
            str, int
        ] = {}  # files of the running deployment: the first record that names a later one
        self._worker = ThreadPoolExecutor(1, "penstock-unused-files")

    def deployed(self, deployment: str) -> None:
        """Before its tasks write anything."""
        self._known |= {name for name in self._storage.names() if name.endswith(SUFFIX)}
        self._running = deployment
        self._idle_since = {}

    def remove(self, locations: Iterable[str]) -> None:
        """After each epoch, with all the locations of its record."""
        used = {span.file for location in locations for span in spans_of(location)}
        self._records += 1
        self._known |= used
        over = {name for name in self._known - used if self._is_over(name, used)}
        self._known -= over
        for name in over:
            self._idle_since.pop(name, None)
            self._worker.submit(self._delete, name)

    def _is_over(self, name: str, used: set[str]) -> bool:
        """A subtask may be ahead of another: what it has written there is named by one of the next records."""
        if not name.startswith(f"{self._running}-"):
            return True
        task, _, _ = name.rpartition("-")
        if all(other <= name for other in used if other.startswith(f"{task}-")):
            return False  # its task may still be writing to it
        return self._records - self._idle_since.setdefault(name, self._records) >= self._epochs_ahead

    def _delete(self, name: str) -> None:
        with contextlib.suppress(OSError):  # it is found again by the next deployment
            self._storage.delete(name)

    def close(self) -> None:
        self._worker.shutdown()
