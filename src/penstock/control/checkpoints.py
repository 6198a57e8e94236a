"""Named checkpoints: how a job wants them, and the directories in which they are.

Every epoch is a recovery point of its own job. A checkpoint is what another job can start from as well: it has the
format of a savepoint and belongs to the system, which removes the older ones.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.job_status import JobStatus
from penstock.common.options import value_of
from penstock.control.job_home import JobHome
from penstock.control.snapshot_machine import Pacing
from penstock.runtime.savepoint import METADATA
from penstock.storage import absolute_location, storage_at

_DIRECTORY = re.compile(r"chk-(\d+)")
_RETENTIONS = ("NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION")


@dataclass(frozen=True)
class CheckpointSettings:
    pacing: Pacing
    directory: str | Path  # or a URI
    retained: int = 1
    kept_after: frozenset[JobStatus] = frozenset({JobStatus.FAILED})  # ends of the job that leave its checkpoints
    history_file: Path | None = None

    @staticmethod
    def of(configuration: Configuration, home: Path, job_id: str) -> CheckpointSettings:
        """Without an interval no checkpoints are taken; savepoints keep to the timeout all the same."""
        directory = value_of(configuration, "execution.checkpointing.dir") or value_of(
            configuration, "state.checkpoints.dir"
        )
        retention = value_of(configuration, "execution.checkpointing.externalized-checkpoint-retention")
        pacing = Pacing(
            interval_ms=value_of(configuration, "execution.checkpointing.interval") or None,
            min_pause_ms=value_of(configuration, "execution.checkpointing.min-pause"),
            timeout_ms=value_of(configuration, "execution.checkpointing.timeout"),
            tolerable_failures=value_of(configuration, "execution.checkpointing.tolerable-failed-checkpoints"),
        )
        if retention not in _RETENTIONS:
            raise ConfigurationError(
                f"execution.checkpointing.externalized-checkpoint-retention is {retention!r}; it takes one of "
                f"{', '.join(_RETENTIONS)}"
            )
        retained = value_of(configuration, "execution.checkpointing.num-retained")
        if retained < 1:
            raise ConfigurationError(f"execution.checkpointing.num-retained is {retained}: at least 1 has to be kept")
        kept = {JobStatus.FAILED} | ({JobStatus.CANCELED} if retention == "RETAIN_ON_CANCELLATION" else set())
        return CheckpointSettings(
            pacing,
            directory=f"{absolute_location(str(directory or home / 'checkpoints'))}/{job_id}",
            retained=retained,
            kept_after=frozenset(kept),
            history_file=history_file_of(JobHome(home, job_id)),
        )

    def way_out(self) -> str:
        """What the user can do when the job cannot go on from its own files."""
        complete = CheckpointStore(self.directory).complete_numbers()
        if not complete:
            return (
                "the job has no checkpoint; start the program as a new job, from a savepoint (-s PATH) if there is one"
            )
        newest = CheckpointStore(self.directory).path_of(complete[-1])
        return (
            f"start the program as a new job from the newest checkpoint: penstock run -s {newest} SCRIPT, without "
            "--job-id; what the job did after that checkpoint is then done again"
        )


def history_file_of(home: JobHome) -> Path:
    return home.run / "checkpoints.json"


class CheckpointStore:
    """The directories `chk-N` of one job."""

    def __init__(self, directory: str | Path, retained: int = 1) -> None:
        self._directory = absolute_location(str(directory))
        self._storage = storage_at(self._directory)
        self._retained = retained

    def path_of(self, number: int) -> str:
        return f"{self._directory}/chk-{number}"

    def numbers(self) -> list[int]:
        """Of all there are, complete or not, the oldest first."""
        found = [_DIRECTORY.fullmatch(name) for name in self._storage.folders()]
        return sorted(int(name[1]) for name in found if name is not None)

    def number_at(self, path: str) -> int | None:
        """Which of its checkpoints is there, if it is a place of the store."""
        return next((number for number in self.numbers() if self.path_of(number) == absolute_location(path)), None)

    def complete_numbers(self) -> list[int]:
        return [number for number in self.numbers() if self._storage.exists(f"chk-{number}/{METADATA}")]

    def drop_old(self) -> list[int]:
        """Keeps the newest complete ones; an older directory without metadata is what a failed attempt has left.

        A newer one may be that of a driver which has just taken over this job.
        """
        complete = self.complete_numbers()
        kept = complete[-self._retained :]
        dropped = [number for number in self.numbers() if number not in kept and number < complete[-1]]
        for number in dropped:
            remove_files(self.path_of(number))
        return dropped

    def remove_all(self) -> None:
        for number in self.numbers():
            remove_files(self.path_of(number))
        self._storage.delete_folder()


def remove_files(directory: str) -> None:
    """The metadata first, so that what an interruption leaves is not taken for a checkpoint."""
    storage = storage_at(directory)
    with contextlib.suppress(OSError):  # what cannot be removed is not worth a failure
        storage.delete(METADATA)
        storage.delete_folder()
