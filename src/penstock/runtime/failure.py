"""A failure of user code, told so that its author finds the line."""

from __future__ import annotations

import traceback
from pathlib import Path

from penstock.common.credentials import without_credentials
from penstock.common.errors import JobExecutionError
from penstock.common.failure import FailedTask, Failure
from penstock.runtime.blueprint import OperatorBlueprint

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class OperatorFailure(Exception):
    """An exception that an operator's code has raised, with the operator's name."""

    def __init__(self, operator: OperatorBlueprint, subtask: int, error: BaseException) -> None:
        origin = operator.origin
        self.failure = Failure(
            type(error).__name__,
            str(error),
            _user_traceback(error),
            FailedTask(
                operator.name, operator.uid, subtask, operator.parallelism, origin.file, origin.line, origin.text
            ),
        )
        super().__init__(str(self.failure))


def failure_of(error: BaseException) -> Failure:
    """Of an error that may or may not have happened inside an operator."""
    if isinstance(error, OperatorFailure | JobExecutionError):
        return error.failure
    return Failure(type(error).__name__, str(error), _user_traceback(error))


def _frame(text: str) -> str:
    """The place, and the line that is there."""
    place, line_end, line = text.partition("\n")
    return place + line_end + without_credentials(line)


def _user_traceback(error: BaseException) -> str:
    """The traceback without the engine's own frames at its top."""
    frames = traceback.extract_tb(error.__traceback__)
    user = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
    shown = traceback.StackSummary.from_list(user or frames[-1:])
    lines = ["Traceback (most recent call last):\n", *map(_frame, shown.format())]
    lines += traceback.format_exception_only(type(error), error)
    if error.__cause__ is not None and error.__cause__ is not error:
        lines = [_user_traceback(error.__cause__), "\nThe above exception was the cause of:\n\n", *lines]
    return "".join(lines).rstrip()
