"""The newest epochs with their times: where an epoch spends them says what to do about a slow job."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

_KEPT = 200
PHASES = ("planning", "source", "operators", "state", "exchange", "recording", "committing")


@dataclass(frozen=True)
class EpochFacts:
    """Milliseconds: finding out what to read, computing it everywhere, writing the record, making results visible.

    Computing is reading with what is chained to it, the other operators, writing state, and the rest: exchanges between
    processes and waiting for each other. Of subtasks side by side the slowest counts.
    """

    number: int
    completed_at: int
    records: int
    changed_bytes: int
    planning: float = 0.0
    computing: float = 0.0
    recording: float = 0.0
    committing: float = 0.0
    source: float = 0.0
    operators: float = 0.0
    state: float = 0.0

    @property
    def exchange(self) -> float:
        return max(0.0, self.computing - self.source - self.operators - self.state)

    @property
    def duration(self) -> float:
        return self.planning + self.computing + self.recording + self.committing


class EpochHistory:
    """Epochs are complete first, and visible a moment later."""

    def __init__(self) -> None:
        self._epochs: deque[EpochFacts] = deque(maxlen=_KEPT)

    def completed(self, facts: EpochFacts) -> None:
        self._epochs.append(facts)

    def committed(self, milliseconds: float) -> None:
        """The newest one."""
        if self._epochs:
            newest = self._epochs[-1]
            self._epochs[-1] = replace(newest, committing=newest.committing + milliseconds)

    def entries(self) -> tuple[EpochFacts, ...]:
        """The oldest first."""
        return tuple(self._epochs)
