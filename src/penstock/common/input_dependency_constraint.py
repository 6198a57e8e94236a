"""When a task with several inputs may start: kept for programs that name it, streams start at once."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether any or all inputs of a task must be ready before it is scheduled."""

    ANY = 0
    ALL = 1
