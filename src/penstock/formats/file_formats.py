"""How files are cut into ranges by the planner and turned into records by the workers.

A format measures a file in units of its own (bytes, row groups, or the file as a whole). Any range of units can be
read without its neighbours, and every record belongs to exactly one range.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from penstock.functions.bad_records import BadRecord
from penstock.runtime.batch import Batch
from penstock.storage.files import size_of_file

_GUESSED_RECORD_BYTES = 100


class FileFormat(ABC):
    """Picklable: the planner measures with it, the workers read with it."""

    block: int = 1  # units that stay together on one subtask

    @abstractmethod
    def extent(self, path: str, size: int) -> int:
        """How many units a file has; 0 when there is nothing to read."""

    @abstractmethod
    def records_per_unit(self, path: str, extent: int) -> float:
        """An estimate, so that an epoch gets about as many records as it may have."""

    @abstractmethod
    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch | BadRecord]:
        """The records of the units from start to end, in their order, in lists or batches of any length."""


class WholeFile(FileFormat):
    """The base of formats whose files can only be read from front to back: one unit."""

    def extent(self, path: str, size: int) -> int:
        return 1 if size else 0

    def records_per_unit(self, path: str, extent: int) -> float:
        return max(1.0, size_of_file(path) / _GUESSED_RECORD_BYTES)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch | BadRecord]:
        return self.read_all(path)

    @abstractmethod
    def read_all(self, path: str) -> Iterator[list[Any] | Batch | BadRecord]: ...
