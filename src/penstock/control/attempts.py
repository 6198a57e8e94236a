"""The attempts of a job: when each began and ended, why, and where the next one went on. Kept with the job."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from penstock.runtime.clock import Clock, system_clock

_KEPT = 100
_FILE = "attempts.json"
LOST = "LOST"
RUNNING = "RUNNING"


def read_attempts(run: Path) -> list[dict[str, Any]]:
    """Plain JSON data, the oldest first."""
    try:
        attempts: list[dict[str, Any]] = json.loads((run / _FILE).read_text())
    except FileNotFoundError:
        return []
    return attempts


class AttemptHistory:
    """Written by the job's driver; the newest attempts are kept."""

    def __init__(self, run: Path, clock: Clock = system_clock) -> None:
        self._file = run / _FILE
        self._clock = clock
        self._attempts = read_attempts(run)

    @property
    def number(self) -> int:
        """Of the attempt that runs: 0 is the first, as in Flink."""
        number: int = self._attempts[-1]["number"]
        return number

    def entries(self) -> list[dict[str, Any]]:
        return [dict(attempt) for attempt in self._attempts]

    def begin(self, driver: str | None, epoch: int, savepoint: str | None) -> None:
        """A new attempt goes on behind this epoch, or from the savepoint when the job has no epoch yet."""
        number = 0
        if self._attempts:
            self._close_lost()
            number = self.number + 1
        self._attempts.append(
            {
                "number": number,
                "state": RUNNING,
                "started_at": self._clock(),
                "ended_at": None,
                "driver": driver,
                "from_epoch": epoch,
                "from_savepoint": savepoint,
                "failure": None,
            }
        )
        del self._attempts[:-_KEPT]
        self._write()

    def end(self, state: str, failure: str | None = None) -> None:
        """Nothing new about an attempt that has ended already, when a job is cancelled before its next one."""
        if self._attempts[-1]["state"] == RUNNING:
            self._attempts[-1].update(state=state, ended_at=self._clock(), failure=failure)
            self._write()

    def _close_lost(self) -> None:
        """An attempt without an end is one whose driver was killed; when that happened nobody knows."""
        last = self._attempts[-1]
        if last["state"] == RUNNING:
            last.update(state=LOST, failure=f"the driver ({last['driver'] or 'unknown'}) was lost")

    def _write(self) -> None:
        temporary = self._file.with_suffix(".tmp")
        temporary.write_text(json.dumps(self._attempts, indent=2))
        os.replace(temporary, self._file)
