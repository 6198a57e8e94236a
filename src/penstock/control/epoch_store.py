"""The driver's durable record of completed epochs: what level 0 remembers, and what has been committed."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.runtime.state_log import Token

_KEPT = 20


@dataclass(frozen=True)
class EpochRecord:
    """The state behind one epoch."""

    epoch: int
    snapshots: dict[int, tuple[Token, bytes]] = field(default_factory=dict)  # level 0, by subtask
    committables: list[Any] = field(default_factory=list)  # of sinks, made visible when the epoch is committed


class EpochStore:
    """One file per epoch, replaced atomically; older ones are removed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._directory.mkdir(parents=True, exist_ok=True)
        self._latest = EpochRecord(0)

    def get(self, epoch: int) -> EpochRecord:
        """The record behind an epoch."""
        if self._latest.epoch == epoch:
            return self._latest
        with open(self._path(epoch), "rb") as file:
            record: EpochRecord = pickle.load(file)
        return record

    def put(self, record: EpochRecord) -> None:
        path = self._path(record.epoch)
        temporary = path.with_suffix(".tmp")
        with open(temporary, "wb") as file:
            pickle.dump(record, file, 5)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        self._latest = record
        self._path(record.epoch - _KEPT).unlink(missing_ok=True)

    def _path(self, epoch: int) -> Path:
        return self._directory / f"{epoch:012d}.epoch"
