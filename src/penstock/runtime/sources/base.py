"""How a source takes part in epochs.

The driver plans: a *position* is a JSON value that says how far the source has been read, and goes into Spark's
offset log. The workers read: for each subtask the plan of an epoch gives *work*, any picklable value that the reader
understands. A planner that knows the records of an epoch beforehand says from where to where, and an epoch that has to
run again reads the same; one that does not hears from the readers how far they came (splits.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.functions.bad_records import BadRecord
from penstock.runtime.batch import Batch, Control


@dataclass(frozen=True)
class Assignment:
    """What one subtask reads in one epoch; `final` when nothing can ever follow for it."""

    work: Any = None
    final: bool = False


class WorkReader(ABC):
    """Reads work in a worker process. Picklable, without state of its own between epochs."""

    @abstractmethod
    def read(self, work: Any) -> Iterator[Batch | Control | BadRecord]: ...


class SourcePlanner(ABC):
    """Plans a source's epochs on the driver."""

    kind: str = "source"  # of the operator that reads
    bounded: bool = True
    ahead: bool = True  # whether an epoch can be planned before the one before it is complete
    max_parallelism: int | None = None  # 1 for sources that cannot be split
    watermark_limit: int | None = None  # set before assignments(): splits with a higher watermark have to wait
    runtime_context: Any = None  # set before open(): what a user's function on the driver may ask

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        """Called once before planning starts.

        The directory belongs to this source of this job; `wake` tells the planner that there is news.
        """

    def close(self) -> None:
        """Called when the job ends."""

    @abstractmethod
    def initial_position(self, parallelism: int) -> Any: ...

    @abstractmethod
    def advance(self, position: Any, budget: int) -> Any:
        """The end position of the next epoch, about `budget` records further; the same position for no news."""

    @abstractmethod
    def assignments(self, start: Any, end: Any, parallelism: int) -> dict[int, Assignment]:
        """The work of each subtask that has any between two positions."""

    @abstractmethod
    def exhausted(self, position: Any) -> bool:
        """Whether nothing can ever follow a position, for all subtasks."""

    @abstractmethod
    def reader(self) -> Any:
        """What the operator in the workers is given: for the kind "source" a WorkReader."""

    def begin(self, progress: Any) -> None:
        """Before assignments(): what completed() has given for the epoch before; None at the start of the job.

        An epoch that has a record may run again: then it is what was given before that of recover().
        """

    def completed(self, reports: list[Any]) -> Any:
        """The epoch is complete: what the epoch's record keeps, made of what the subtasks report about this source."""
        return None

    def on_commit(self, position: Any) -> None:
        """The last completed epoch is committed: nothing is ever planned from an earlier position."""

    def recover(self, progress: Any) -> None:
        """Before open(), in a process that goes on with a job: the progress of its last epoch."""

    def savepoint_state(self, position: Any) -> Any:
        """What this source keeps on the driver besides its position; picklable, None for nothing."""
        return None

    def restore_savepoint(self, position: Any, state: Any) -> Any:
        """Called before open(): takes over a saved state; gives the position at which this job starts.

        A source whose position means nothing to another job refuses.
        """
        return position
