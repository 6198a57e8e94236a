"""Sinks that users can write: writers in the workers, and a committer on the driver.

An epoch of the job is the unit of everything. In each epoch the writers stage what they were given where nobody sees it
and hand the driver *committables*, small picklable values that say what was staged. When the epoch is complete on all
subtasks its number and its committables are on the disk of the job, and only then the committer makes them visible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from penstock.common.errors import NotSupportedError
from penstock.functions.source_sink import JavaFunctionWrapper

if TYPE_CHECKING:
    from penstock.common.typeinfo import TypeInformation
    from penstock.functions.base import RuntimeContext
    from penstock.metrics import MetricGroup

__all__ = ["Committer", "CommitterContext", "Records", "Sink", "SinkWriter", "WriterContext"]


class Records(Protocol):
    """Records that arrived together, in their order."""

    @property
    def values(self) -> list[Any]: ...

    @property
    def timestamps(self) -> list[int] | None:
        """Event times in epoch milliseconds, -2**63 for a record that has none; None when no record has one."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class WriterContext:
    """What a writer may know about its place in the job."""

    job_id: str
    operator_uid: str
    subtask: int
    parallelism: int
    attempt: int  # of the job: grows with every restart
    type_info: TypeInformation | None
    metrics: MetricGroup
    current_processing_time: Callable[[], int]
    current_watermark: Callable[[], int]
    runtime_context: RuntimeContext  # as functions get it in open()
    directory: str | None = None  # for what is staged: reached by committer and writers, removed with the job


@dataclass(frozen=True)
class CommitterContext:
    """What a committer may know. `job_id` and the epoch's number together name a commit for ever."""

    job_id: str
    operator_uid: str
    operator_name: str
    directory: str | None = None  # the same as the writers'


class SinkWriter(ABC):
    """Stages records in a worker, one writer for each subtask. It lives as long as its worker does.

    In every epoch: :meth:`write` as often as records arrive, then :meth:`flush`, :meth:`prepare_commit` and
    :meth:`snapshot_state`. After a failure a new writer is made and goes on from the last snapshot; what the old one
    has staged since then must not become visible, and its committables are lost.
    """

    def restore_state(self, states: list[Any]) -> None:
        """Before :meth:`open`: what :meth:`snapshot_state` has given; of several subtasks when there are fewer now."""

    def open(self) -> None:
        """Connect. Called before the first record."""

    @abstractmethod
    def write(self, records: Records) -> None:
        """Stage records."""

    def flush(self, end_of_input: bool) -> None:
        """The epoch ends: everything that was written must be staged safely when this returns."""

    def prepare_commit(self) -> list[Any]:
        """What the committer needs in order to make this epoch's records visible. Picklable and small."""
        return []

    def snapshot_state(self) -> Any:
        """What a new writer needs to go on from here; picklable, not changed later. None for nothing."""
        return None

    def awaits_commit(self, prepared: list[Any]) -> bool:
        """Whether :meth:`on_commit` is to be called, and soon: asked with what was prepared, or [] after a restore."""
        return bool(prepared)

    def on_commit(self, epoch: int) -> None:
        """The epoch of this number was committed, and with it everything that this writer has prepared.

        Called when a later epoch begins, if the sink says ``writers_hear_commits`` and :meth:`awaits_commit` agrees;
        there is one more epoch for that when the input has ended. A writer that takes the place of another knows what
        that one had prepared only if it is in its state.
        """

    def before_savepoint(self) -> None:
        """The epoch is saved for another job: finish what only this job could go on with."""

    def next_wake_up(self) -> int | None:
        """When :meth:`wake_up` is to be called although nothing arrives, in epoch milliseconds."""
        return None

    def wake_up(self, now: int) -> None:
        """The moment of :meth:`next_wake_up` has come."""

    def close(self) -> None:
        """Disconnect, and leave what is staged alone. Also called after failures."""


class Committer(ABC):
    """Makes staged records visible, on the driver. There is one for each sink of a running job."""

    def open(self) -> None:
        """Connect. Called before the first commit."""

    @abstractmethod
    def commit(self, epoch: int, committables: list[Any]) -> None:
        """Makes an epoch visible: gets the committables of all subtasks at once, in the order of subtasks.

        Epochs come in order, and those without committables are left out. After a crash the last epoch comes once more,
        with the same committables, whether or not it was committed before: find out and do nothing if it was. Whatever
        this raises fails the job, which is then restarted as its strategy says.
        """

    def sweep(self) -> None:
        """The job has finished, all is committed: remove what attempts that failed have left."""

    def conclude(self) -> None:
        """The job has ended for good, finished or not, and no writer lives: what was left to writers is done now."""

    def close(self) -> None:
        """Disconnect. Called when the job ends, in whatever way."""


class Sink(JavaFunctionWrapper):
    """The end of a stream, for ``ds.sink_to``. Subclass it: it is pickled, so let writer and committer connect.

    Example::

        class Log(Sink):
            def __init__(self, path):
                self.path = path

            def create_writer(self, context):
                return LogWriter(self.path, context.subtask)

            def create_committer(self, context):
                return LogCommitter(self.path, context.job_id)

    docs/connectors-own.md has complete ones. PyFlink's class of this name wraps a Java sink; that is refused here.
    """

    committables_survive = True
    """Whether the committables of an epoch are kept until it is committed, also when the driver dies. A sink whose
    results are meant for the running program alone says False."""

    writers_hear_commits = False
    """Whether :meth:`SinkWriter.on_commit` of its writers is called. No epoch then begins before the one before it is
    committed."""

    def __init__(self, sink: Any = None) -> None:
        if sink is not None:
            super().__init__(sink)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Called in the workers."""
        raise NotSupportedError(
            f"{type(self).__name__} cannot be written by Penstock: it has no create_writer(context). Use one of"
            " Penstock's own sinks, or write that method (docs/connectors-own.md)."
        )

    def create_committer(self, context: CommitterContext) -> Committer | None:
        """Called on the driver; None when writers need nobody to commit for them."""
        return None
