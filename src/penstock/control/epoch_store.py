"""The driver's durable record of completed epochs: what level 0 remembers, and what has been committed."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.runtime.pickling import dumps_on_driver
from penstock.runtime.state_log import Token

_KEPT = 20


@dataclass(frozen=True)
class EpochRecord:
    """The state behind one epoch."""

    epoch: int
    snapshots: dict[int, tuple[Token, bytes]] = field(default_factory=dict)  # level 0, by subtask
    committables: list[Any] = field(default_factory=list)  # of sinks, made visible when the epoch is committed
    wakeups: dict[tuple[int, int], int] = field(default_factory=dict)  # level, subtask -> moment
    unfinished: frozenset[tuple[int, int]] | None = None


class EpochStore:
    """One file per epoch, replaced atomically; older ones are removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._directory.mkdir(parents=True, exist_ok=True)
        self._latest = self._newest() or EpochRecord(0)

    @property
    def latest(self) -> EpochRecord:
        """The newest record, which the running process or an earlier one has written."""
        return self._latest

    def _newest(self) -> EpochRecord | None:
        files = sorted(self._directory.glob("*.epoch"))
        return _read(files[-1]) if files else None

    def get(self, epoch: int) -> EpochRecord:
        """The record behind an epoch."""
        if self._latest.epoch == epoch:
            return self._latest
        return _read(self._path(epoch)) if epoch > 0 else EpochRecord(0)

    def put(self, record: EpochRecord) -> None:
        path = self._path(record.epoch)
        temporary = path.with_suffix(".tmp")
        with open(temporary, "wb") as file:
            file.write(dumps_on_driver(record))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        self._latest = record
        self._path(record.epoch - _KEPT).unlink(missing_ok=True)

    def _path(self, epoch: int) -> Path:
        return self._directory / f"{epoch:012d}.epoch"


def _read(path: Path) -> EpochRecord:
    with open(path, "rb") as file:
        record: EpochRecord = pickle.load(file)
    return record
