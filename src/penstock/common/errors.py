"""The errors that Penstock raises on purpose; each says what happened, where, and what to do next."""

from __future__ import annotations

from typing import Any, Self

from penstock.common.failure import Failure
from penstock.common.java_error import raised_as


class PenstockError(Exception):
    """Base of every error raised on purpose, so that a program can catch them all."""

    def __new__(cls, *arguments: Any, **_: Any) -> Self:
        return super().__new__(raised_as(cls), *arguments)

    # Where an error is py4j's as well, not what that class does.
    def __init__(self, *arguments: object) -> None:
        Exception.__init__(self, *arguments)

    def __str__(self) -> str:
        return Exception.__str__(self)


class NotSupportedError(PenstockError, NotImplementedError):
    """Something of Flink's API that Penstock refuses, or does not have yet."""


class ConfigurationError(PenstockError, ValueError):
    """An unknown option, or a value that an option does not take."""


class ProgramError(PenstockError, TypeError):
    """The program asks for something that cannot work: found while it is built, before anything runs."""


class SetupError(PenstockError):
    """Something is missing on the machine (Java, a package, a file) and the message says how to get it."""


class JobExecutionError(PenstockError):
    """The job failed while running; the message carries operator, user line and the original traceback.

    The same as data is in ``failure``.
    """

    def __init__(self, what: str | Failure) -> None:
        super().__init__(str(what))
        self.failure = what if isinstance(what, Failure) else Failure(type(self).__name__, what)

    def __str__(self) -> str:
        return str(self.args[0])


class JobCancelledError(JobExecutionError):
    """The job was cancelled before it finished, so that there is no result to return."""


class JobTakenOverError(JobExecutionError):
    """Another process has become the job's driver: this one may neither commit nor remove anything any more."""
