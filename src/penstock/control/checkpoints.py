"""Named checkpoints: when the next one is due, which ones are kept, what is told about them.

Every epoch is a recovery point of its own job. A checkpoint is what another job can start from as well: it has the
format of a savepoint and belongs to the system, which removes the older ones. Here are decisions and bookkeeping only;
the epochs that write checkpoints are planned by the coordinator.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common.configuration import Configuration
from penstock.common.options import value_of


@dataclass(frozen=True)
class CheckpointSettings:
    interval_ms: int
    min_pause_ms: int
    directory: Path
    retained: int
    retain_on_cancel: bool
    tolerable_failures: int

    @staticmethod
    def of(configuration: Configuration, home: Path, job_id: str) -> CheckpointSettings | None:
        """None when the program has not asked for checkpoints."""
        interval = value_of(configuration, "execution.checkpointing.interval")
        if not interval:
            return None
        directory = value_of(configuration, "execution.checkpointing.dir") or value_of(
            configuration, "state.checkpoints.dir"
        )
        retention = value_of(configuration, "execution.checkpointing.externalized-checkpoint-retention")
        return CheckpointSettings(
            interval_ms=interval,
            min_pause_ms=value_of(configuration, "execution.checkpointing.min-pause"),
            directory=Path(str(directory or home / "checkpoints").removeprefix("file://")).absolute() / job_id,
            retained=value_of(configuration, "execution.checkpointing.num-retained"),
            retain_on_cancel=retention == "RETAIN_ON_CANCELLATION",
            tolerable_failures=value_of(configuration, "execution.checkpointing.tolerable-failed-checkpoints"),
        )


class CheckpointSchedule:
    """Events in, decisions out; no clock of its own, and no I/O."""

    def __init__(self, interval_ms: int, min_pause_ms: int, tolerable_failures: int, now: int) -> None:
        self._interval = interval_ms
        self._min_pause = min_pause_ms
        self._tolerable = tolerable_failures
        self._next = now + interval_ms
        self._under_way = False
        self._failures_in_a_row = 0

    @property
    def next_due(self) -> int:
        return self._next

    def due(self, now: int) -> bool:
        return not self._under_way and now >= self._next

    def triggered(self, now: int) -> None:
        self._under_way = True
        self._next = now + self._interval

    def completed(self, now: int) -> None:
        self._under_way = False
        self._failures_in_a_row = 0
        self._next = max(self._next, now + self._min_pause)

    def abandoned(self) -> None:
        """The job failed for another reason: this says nothing about checkpoints."""
        self._under_way = False

    def failed(self, now: int) -> bool:
        """Whether the job may go on."""
        self._under_way = False
        self._failures_in_a_row += 1
        self._next = max(self._next, now + self._min_pause)
        return self._failures_in_a_row <= self._tolerable


class CheckpointStore:
    """The directories `chk-N` of one job."""

    def __init__(self, directory: Path, retained: int) -> None:
        self._directory = directory
        self._retained = retained

    def path_of(self, number: int) -> str:
        return str(self._directory / f"chk-{number}")

    def next_number(self) -> int:
        """Numbers go on behind what an earlier process of the job has written."""
        return max(self._numbers(), default=0) + 1

    def drop_old(self) -> None:
        """Keeps the newest complete ones; a directory without metadata is what a failed attempt has left."""
        complete = [number for number in self._numbers() if self._is_complete(number)]
        kept = set(sorted(complete)[-self._retained :])
        for number in self._numbers():
            if number not in kept:
                shutil.rmtree(self.path_of(number), ignore_errors=True)

    def remove_all(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)

    def _is_complete(self, number: int) -> bool:
        return os.path.exists(os.path.join(self.path_of(number), "_metadata"))

    def _numbers(self) -> list[int]:
        if not self._directory.is_dir():
            return []
        names = [path.name.removeprefix("chk-") for path in self._directory.glob("chk-*")]
        return [int(name) for name in names if name.isdigit()]


def history_entry(number: int, entry: dict[str, Any] | None, failure: str | None) -> dict[str, Any]:
    """What the REST interface and the command line show of one checkpoint."""
    return {"id": number, "status": "FAILED" if failure else "COMPLETED", "failure": failure, **(entry or {})}
