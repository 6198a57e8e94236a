"""A failure of user code, told so that its author finds the line."""

from __future__ import annotations

import traceback
from pathlib import Path

from penstock.runtime.blueprint import OperatorBlueprint

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class OperatorFailure(Exception):
    """Carries the whole story as text, because the original exception may not survive pickling."""

    def __init__(self, operator: OperatorBlueprint, subtask: int, error: BaseException) -> None:
        super().__init__(_story(operator, subtask, error))
        self.error_type = type(error).__name__


def _story(operator: OperatorBlueprint, subtask: int, error: BaseException) -> str:
    where = f"operator {operator.name!r} (subtask {subtask + 1}/{operator.parallelism})"
    created = f"created at {operator.origin}"
    if operator.origin.text:
        created += f"\n    {operator.origin.text}"
    return f"{type(error).__name__} in {where}, {created}\n\n{_user_traceback(error)}"


def _user_traceback(error: BaseException) -> str:
    """The traceback without the engine's own frames at its top."""
    frames = traceback.extract_tb(error.__traceback__)
    user = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
    shown = traceback.StackSummary.from_list(user or frames[-1:])
    lines = ["Traceback (most recent call last):\n", *shown.format()]
    lines += traceback.format_exception_only(type(error), error)
    if error.__cause__ is not None and error.__cause__ is not error:
        lines = [_user_traceback(error.__cause__), "\nThe above exception was the cause of:\n\n", *lines]
    return "".join(lines).rstrip()


def describe_failure(error: BaseException) -> str:
    """The story of an error that may or may not have happened inside an operator."""
    if isinstance(error, OperatorFailure):
        return str(error)
    return f"{type(error).__name__} while the operators were made ready\n\n{_user_traceback(error)}"
