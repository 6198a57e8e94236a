"""The attempts of a job: when each began and ended, why, and where the next one went on. Kept with the job."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from penstock.common.failure import Failure
from penstock.common.json_data import from_json, to_json
from penstock.runtime.clock import Clock, system_clock

_KEPT = 100
_FILE = "attempts.json"


class AttemptState(Enum):
    RUNNING = "running"
    FINISHED = "finished"
    CANCELED = "canceled"
    FAILED = "failed"
    LOST = "lost"  # its driver was killed


@dataclass(frozen=True)
class Attempt:
    """One attempt; the first has the number 0, as in Flink."""

    number: int
    state: AttemptState
    started_at: int
    ended_at: int | None = None
    driver: str | None = None
    from_epoch: int = 0
    from_savepoint: str | None = None
    failure: Failure | None = None


def read_attempts(run: Path) -> tuple[Attempt, ...]:
    """The oldest first."""
    try:
        return from_json(tuple[Attempt, ...], json.loads((run / _FILE).read_text()))
    except FileNotFoundError:
        return ()


class AttemptHistory:
    """Written by the job's driver; the newest attempts are kept."""

    def __init__(self, run: Path, clock: Clock = system_clock) -> None:
        self._file = run / _FILE
        self._clock = clock
        self._attempts = read_attempts(run)

    @property
    def number(self) -> int:
        """Of the attempt that runs."""
        return self._attempts[-1].number

    def entries(self) -> tuple[Attempt, ...]:
        return self._attempts

    def begin(self, driver: str | None, epoch: int, savepoint: str | None) -> None:
        """A new attempt goes on after this epoch, or from the savepoint when the job has no epoch yet."""
        number = 0
        if self._attempts:
            self._close_lost()
            number = self.number + 1
        new = Attempt(
            number, AttemptState.RUNNING, self._clock(), driver=driver, from_epoch=epoch, from_savepoint=savepoint
        )
        self._attempts = (*self._attempts, new)[-_KEPT:]
        self._write()

    def end(self, state: AttemptState, failure: Failure | None = None) -> None:
        """Nothing new about an attempt that has ended already, when a job is cancelled before its next one."""
        if self._attempts[-1].state is AttemptState.RUNNING:
            self._replace_last(replace(self._attempts[-1], state=state, ended_at=self._clock(), failure=failure))
            self._write()

    def _close_lost(self) -> None:
        """An attempt without an end is one whose driver was killed; when that happened nobody knows."""
        last = self._attempts[-1]
        if last.state is AttemptState.RUNNING:
            failure = Failure("JobExecutionError", f"the driver ({last.driver or 'unknown'}) was lost")
            self._replace_last(replace(last, state=AttemptState.LOST, failure=failure))

    def _replace_last(self, attempt: Attempt) -> None:
        self._attempts = (*self._attempts[:-1], attempt)

    def _write(self) -> None:
        temporary = self._file.with_suffix(".tmp")
        temporary.write_text(json.dumps(to_json(self._attempts), indent=2))
        os.replace(temporary, self._file)
