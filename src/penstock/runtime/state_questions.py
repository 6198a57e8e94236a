"""Questions about the state of a running job, and what its subtasks answer at the end of an epoch.

Nothing is saved for it, and all answers to a question are of the same epoch, whichever engine runs the job. Answers
are plain values, as JSON has them: whoever asks need not know the user's classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StateQuestion:
    """Which states operators have; or, with a name, what is in one of them."""

    uid: str | None = None  # None: of all operators
    state: str | None = None
    key: str | None = None  # as JSON, as Python writes it, or as it is printed
    limit: int = 1000


@dataclass(frozen=True)
class StateFacts:
    """One state of an operator; on disk, entries are not counted."""

    uid: str
    operator: str
    name: str
    kind: str
    type: str
    entries: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class StateEntry:
    """Plain values."""

    key: Any
    namespace: Any
    value: Any


@dataclass(frozen=True)
class PartialAnswer:
    """Of one operator subtask; one entry more than the limit says that there are more."""

    states: tuple[StateFacts, ...] = ()
    entries: tuple[StateEntry, ...] = ()
    refusal: str | None = None
