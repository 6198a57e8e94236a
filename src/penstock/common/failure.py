"""Why a job failed, as data: it travels from the worker to REST and the command line, and is printed only there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FailedTask:
    """The subtask of an operator in which it happened, and the user's line that made the operator."""

    operator: str
    uid: str
    subtask: int  # counted from 0
    parallelism: int
    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        created = f"created at {self.file}:{self.line}" + (f"\n    {self.text}" if self.text else "")
        return f"operator {self.operator!r} (subtask {self.subtask + 1}/{self.parallelism}), {created}"


@dataclass(frozen=True)
class Failure:
    """Text instead of the exception itself, which may not survive pickling; `str()` tells the whole story."""

    exception: str  # the name of its class
    message: str
    traceback: str = ""
    task: FailedTask | None = None  # None: it did not happen in an operator

    @staticmethod
    def from_older_json(data: Any) -> Any:
        """Older versions wrote only the text."""
        return {"exception": "JobExecutionError", "message": data} if isinstance(data, str) else data

    def __str__(self) -> str:
        if self.task is not None:
            return f"{self.exception} in {self.task}\n\n{self.traceback}"
        if self.traceback:
            return f"{self.exception} outside of all operators\n\n{self.traceback}"
        return self.message
