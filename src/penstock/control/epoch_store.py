"""The driver's durable record of completed epochs: what level 0 remembers, and what has been committed."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from penstock.common.errors import JobExecutionError
from penstock.runtime.pickling import dumps_on_driver
from penstock.runtime.report import UnionLists
from penstock.runtime.state_log import Token
from penstock.storage import parent_location, storage_at

_KEPT = 20
_VERSION = 2


class Totals(NamedTuple):
    """Counted from the job's first epoch on, over all its processes."""

    records: int = 0  # read by sources
    changed_bytes: int = 0  # of state, as the epochs wrote it down

    def plus(self, records: int, changed_bytes: int) -> Totals:
        return Totals(self.records + records, self.changed_bytes + changed_bytes)


@dataclass(frozen=True)
class EpochRecord:
    """The state after one epoch."""

    epoch: int
    snapshots: dict[int, tuple[Token, bytes]] = field(default_factory=dict)  # level 0, by subtask
    committables: dict[str, list[Any]] = field(default_factory=dict)  # by uid of the sink, to be made visible
    unfinished: frozenset[tuple[int, int]] | None = None
    snapshot_ids: dict[tuple[int, int], str] = field(default_factory=dict)  # level, subtask -> what is in Spark's store
    offset: dict[str, Any] | None = None  # where the epoch ended, as it is in Spark's offset log
    totals: Totals = Totals()
    commit_number: int = 0  # the epoch's number for sinks; batches that only Spark's own sources feed have one as well
    progress: dict[str, Any] = field(default_factory=dict)  # by uid: of sources whose readers say how far they came
    union_lists: dict[tuple[int, int], UnionLists] = field(default_factory=dict)  # level, subtask -> what it had

    def union_lists_of(self, level: int) -> dict[int, UnionLists]:
        """By subtask, for those of the level that are opened again."""
        return {subtask: lists for (of_level, subtask), lists in self.union_lists.items() if of_level == level}


class DamagedEpochError(JobExecutionError):
    """The job cannot go on from its own records; nothing of them was used."""


class EpochStore:
    """One file per epoch, replaced atomically; older ones are removed.

    A file has a line of JSON with version, epoch and checksum, and then the pickled record. `way_out` says what the
    user can do when one is damaged.
    """

    def __init__(
        self, directory: str | Path, way_out: Callable[[], str] = lambda: "start the program as a new job"
    ) -> None:
        self._storage = storage_at(str(directory))
        self._way_out = way_out
        self._latest = self._newest() or EpochRecord(0)

    @property
    def latest(self) -> EpochRecord:
        """The newest record, which the running process or an earlier one has written."""
        return self._latest

    def _newest(self) -> EpochRecord | None:
        names = [name for name in self._storage.names() if name.endswith(".epoch")]
        return self._read(names[-1]) if names else None

    def get(self, epoch: int) -> EpochRecord:
        """The record of an epoch."""
        if self._latest.epoch == epoch:
            return self._latest
        return self._read(_name(epoch)) if epoch > 0 else EpochRecord(0)

    def check_offsets(self, start: dict[str, Any], end: dict[str, Any] | None = None) -> None:
        """Spark's logs say from where to where an epoch reads: they must be those of these records.

        The newest record is that of the last epoch, or of one that was computed but not committed by Spark.
        """
        latest = self._latest
        if not 0 <= latest.epoch - start["epoch"] <= 1:
            raise self.damage(
                f"Spark's logs end with epoch {start['epoch']}, the newest record is that of epoch {latest.epoch}"
            )
        for offset in (start, end):
            if offset is None or offset["epoch"] > latest.epoch or offset["epoch"] == 0:
                continue
            recorded = self.get(offset["epoch"]).offset
            if recorded is not None and recorded != offset:
                raise self.damage(
                    f"Spark's logs end epoch {offset['epoch']} at {offset['positions']}, its record at "
                    f"{recorded['positions']}"
                )

    def damage(self, what: str) -> DamagedEpochError:
        place = parent_location(self._storage.location)
        return DamagedEpochError(
            f"the job cannot go on: its files in {place} are damaged, incomplete or not those of one job. {what}. "
            f"Nothing was read or written with them. What to do: {self._way_out()}."
        )

    def put(self, record: EpochRecord) -> None:
        content = dumps_on_driver(record)
        digest = hashlib.sha256(content).hexdigest()
        header = json.dumps({"version": _VERSION, "epoch": record.epoch, "sha256": digest})
        self._storage.write(_name(record.epoch), header.encode() + b"\n" + content)
        self._latest = record
        self._storage.delete(_name(record.epoch - _KEPT))

    def _read(self, name: str) -> EpochRecord:
        """Checked before it is unpickled: what is damaged may not run as code."""
        try:
            first, _, content = self._storage.read(name).partition(b"\n")
            header = json.loads(first)
            if header["version"] != _VERSION:
                raise ValueError(f"it has version {header['version']}, this program reads {_VERSION}")
            if hashlib.sha256(content).hexdigest() != header["sha256"]:
                raise ValueError("its checksum does not match")
            if name != _name(header["epoch"]):
                raise ValueError(f"it is the record of epoch {header['epoch']}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self.damage(f"{name} cannot be used: {error}") from error
        record: EpochRecord = pickle.loads(content)
        return record


def _name(epoch: int) -> str:
    return f"{epoch:012d}.epoch"
