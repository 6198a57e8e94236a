"""The states that a job goes through."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The state of a job, from CREATED to one of FINISHED, FAILED, CANCELED and SUSPENDED."""

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """True when the job has ended and no job manager will take it up again."""
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """True when this job manager is done with the job; another may go on with a SUSPENDED one."""
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()
