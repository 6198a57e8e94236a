"""Flink's base class of sinks that keep an epoch's records until it is complete, and then send them once."""

from __future__ import annotations

import contextlib
import uuid
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from penstock.common.errors import JobExecutionError
from penstock.functions.sink import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext

__all__ = ["CheckpointCommitter", "GenericWriteAheadSink"]

IN = TypeVar("IN")


class CheckpointCommitter(ABC):
    """Remembers outside of the job which epochs of a sink were sent. Used on the driver.

    Best it writes into the system to which the records go, in the same transaction; else an epoch whose records were
    sent shortly before a crash is sent again.
    """

    job_id: str = ""
    operator_id: str = ""

    def set_job_id(self, job_id: str) -> None:
        """Whose epochs these are; before :meth:`open`."""
        self.job_id = job_id

    def set_operator_id(self, operator_id: str) -> None:
        """Which sink of the job this is; before :meth:`open`."""
        self.operator_id = operator_id

    def create_resource(self) -> None:  # noqa: B027 - optional
        """Make what the notes need, if it is not there: a table, a file. Called before :meth:`open`."""

    @abstractmethod
    def open(self) -> None:
        """Connect."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect."""

    @abstractmethod
    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        """Note that the records of this subtask and epoch were sent, and those of all epochs before."""

    @abstractmethod
    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        """Whether they were."""

    def commit_content(self, subtask_idx: int, checkpoint_id: int, content: str) -> None:
        """As :meth:`commit_checkpoint`; a committer that keeps `content` beside the number overrides it.

        No other records have this text. A job that begins anew under the id of an earlier run counts its epochs from
        the first again: by the number alone its records would be taken for those that were sent then, and be lost.
        """
        self.commit_checkpoint(subtask_idx, checkpoint_id)

    def committed_content(self, subtask_idx: int) -> str | None:
        """What was noted with the last epoch of this subtask; None where the number is all that there is."""
        return None


@dataclass(frozen=True)
class _Log:
    subtask: int
    timestamp: int
    values: list[Any]
    id: str = ""  # no other log has it; empty in those of earlier versions


class GenericWriteAheadSink(Sink, Generic[IN]):
    """A sink for systems without transactions, for ``ds.sink_to``: the log of an epoch is part of the job's record.

    When an epoch is complete, :meth:`send_values` gets the records of each subtask, on the driver, unless the
    committer says that they were sent before. The log passes the driver: for large streams stage files instead
    (docs/connectors-own.md).
    """

    def __init__(self, committer: CheckpointCommitter) -> None:
        super().__init__()
        self._committer = committer

    def open(self) -> None:
        """Connect, on the driver."""

    def close(self) -> None:
        """Disconnect, on the driver."""

    @abstractmethod
    def send_values(self, values: list[IN], checkpoint_id: int, timestamp: int) -> bool:
        """Write the records of one subtask and epoch; whether that worked. False, too, fails the job."""
        raise NotImplementedError

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _LogWriter(context)

    def create_committer(self, context: CommitterContext) -> Committer:
        return _LogCommitter(self, self._committer, context)


class _LogWriter(SinkWriter):
    def __init__(self, context: WriterContext) -> None:
        self._context = context
        self._values: list[Any] = []

    def write(self, records: Records) -> None:
        self._values += records.values

    def prepare_commit(self) -> list[_Log]:
        values, self._values = self._values, []
        if not values:
            return []
        return [_Log(self._context.subtask, self._context.current_processing_time(), values, uuid.uuid4().hex)]


class _LogCommitter(Committer):
    def __init__(self, sink: GenericWriteAheadSink[Any], notes: CheckpointCommitter, context: CommitterContext) -> None:
        self._sink, self._notes = copy(sink), copy(notes)  # what open() puts into them must not travel to the workers
        self._name = context.operator_name
        self._opened = False
        self._notes.set_job_id(context.job_id)
        self._notes.set_operator_id(context.operator_uid)

    def open(self) -> None:
        if self._opened:
            return
        self._opened = True
        self._notes.create_resource()
        self._notes.open()
        self._sink.open()

    def commit(self, epoch: int, committables: list[_Log]) -> None:
        try:
            self.open()
            self._send(epoch, committables)
        except BaseException:
            with contextlib.suppress(Exception):
                self.close()  # the next attempt connects anew
            raise

    def _send(self, epoch: int, committables: list[_Log]) -> None:
        for log in committables:
            if not self._was_sent(log, epoch):
                if not self._sink.send_values(log.values, epoch, log.timestamp):
                    raise JobExecutionError(
                        f"send_values() of the sink {self._name!r} did not take the {len(log.values)} records of epoch"
                        f" {epoch} and subtask {log.subtask}; a restart strategy lets the job try again."
                    )
                self._notes.commit_content(log.subtask, epoch, log.id)

    def _was_sent(self, log: _Log, epoch: int) -> bool:
        if not self._notes.is_checkpoint_committed(log.subtask, epoch):
            return False
        # Only the last epoch is ever committed again.
        if self._notes.is_checkpoint_committed(log.subtask, epoch + 1):
            raise self._foreign(f"epochs after {epoch} were sent already")
        noted = self._notes.committed_content(log.subtask)
        if noted and log.id and noted != log.id:
            raise self._foreign(f"epoch {epoch} was sent already, and these are other records")
        return True

    def _foreign(self, what: str) -> JobExecutionError:
        return JobExecutionError(
            f"The committer of the sink {self._name!r} says that {what}: either another driver has this job now, or the"
            " job began anew under the id of an earlier run. For a new run give another --job-id."
        )

    def close(self) -> None:
        if self._opened:
            self._opened = False
            self._sink.close()
            self._notes.close()
