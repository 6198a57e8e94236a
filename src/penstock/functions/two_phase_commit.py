"""Flink's base class of sinks that write in transactions of another system."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Generic, TypeVar

from penstock.functions.committer_runtime import CommitterRuntime
from penstock.functions.sink import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext
from penstock.functions.source_sink import SinkFunction
from penstock.functions.written_record import WrittenRecord

__all__ = ["TwoPhaseCommitSinkFunction"]

IN = TypeVar("IN")
TXN = TypeVar("TXN")


class TwoPhaseCommitSinkFunction(SinkFunction, Generic[IN, TXN]):
    """A sink that writes records into transactions, for ``ds.add_sink``: each record becomes visible once.

    An epoch of a subtask is one transaction. It is begun, written to and pre-committed in a worker; when the epoch is
    complete everywhere, the driver commits it. A transaction therefore is a picklable value that says how to find what
    was written, such as a file's name or the id of a prepared transaction; what cannot be pickled belongs to ``self``.

    After a failure a transaction may be committed or aborted again, whether or not that was done before: both must
    then do nothing. ``open`` and ``close`` are called in the workers, and on the driver around its commits.
    """

    @abstractmethod
    def begin_transaction(self) -> TXN:
        """Start a transaction, in a worker."""

    @abstractmethod
    def invoke(self, transaction: TXN, value: IN, context: SinkFunction.Context) -> None:  # type: ignore[override]
        """Write a record within the transaction."""

    @abstractmethod
    def pre_commit(self, transaction: TXN) -> None:
        """Make everything durable, so that only an exception of the other system could keep a commit from working."""

    @abstractmethod
    def commit(self, transaction: TXN) -> None:
        """Make a pre-committed transaction visible, on the driver. What it raises fails the job, which tries again."""

    @abstractmethod
    def abort(self, transaction: TXN) -> None:
        """Undo a transaction that was not pre-committed."""

    def recover_and_commit(self, transaction: TXN) -> None:
        """Commit after a failure: it may have been committed before."""
        self.commit(transaction)

    def recover_and_abort(self, transaction: TXN) -> None:
        """Abort a transaction that an earlier attempt has begun: it may have been aborted before."""
        self.abort(transaction)

    def _as_sink(self) -> Sink:
        return _TwoPhaseSink(self)


class _TwoPhaseSink(Sink):
    def __init__(self, function: TwoPhaseCommitSinkFunction[Any, Any]) -> None:
        super().__init__()
        self._function = function

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _TransactionWriter(self._function, context)

    def create_committer(self, context: CommitterContext) -> Committer:
        return _TransactionCommitter(self._function, context)


class _TransactionWriter(SinkWriter):
    """The snapshot has the transaction that comes after it: whoever goes on from it aborts that one."""

    def __init__(self, function: TwoPhaseCommitSinkFunction[Any, Any], context: WriterContext) -> None:
        self._function = function
        self._runtime_context = context.runtime_context
        self._record = WrittenRecord(context)
        self._left: list[Any] = []  # transactions of earlier attempts
        self._current: list[Any] = []  # one, while it is open
        self._written = False
        self._pre_committed: list[Any] = []

    def restore_state(self, states: list[Any]) -> None:
        self._left = states

    def open(self) -> None:
        self._function.open(self._runtime_context)
        for transaction in self._left:
            self._function.recover_and_abort(transaction)
        self._current = [self._function.begin_transaction()]

    def write(self, records: Records) -> None:
        invoke, transaction = self._function.invoke, self._current[0]
        self._written = True
        for value in self._record.each_of(records):
            invoke(transaction, value, self._record)

    def flush(self, end_of_input: bool) -> None:
        if end_of_input:
            self._function.finish()
        if self._written:  # a transaction without records goes on
            self._function.pre_commit(self._current[0])
            self._pre_committed += self._current
            self._current = [self._function.begin_transaction()]
            self._written = False

    def prepare_commit(self) -> list[Any]:
        prepared, self._pre_committed = self._pre_committed, []
        return prepared

    def snapshot_state(self) -> Any:
        return self._current[0]

    def close(self) -> None:
        try:
            for transaction in self._current:
                self._function.abort(transaction)
        finally:
            self._current = []
            self._function.close()


class _TransactionCommitter(Committer):
    def __init__(self, function: TwoPhaseCommitSinkFunction[Any, Any], context: CommitterContext) -> None:
        self._function = copy(function)  # what open() puts into it must not travel to the workers
        self._runtime_context = CommitterRuntime(context)
        self._opened = False
        self._last = 0  # epoch whose commit was tried

    def open(self) -> None:
        self._opened = True
        self._function.open(self._runtime_context)

    def commit(self, epoch: int, committables: list[Any]) -> None:
        # The first epoch that this process sees, unless it is the job's first, may have been committed by another one.
        again = epoch == self._last or (self._last == 0 and epoch > 1)
        self._last = epoch
        for transaction in committables:
            (self._function.recover_and_commit if again else self._function.commit)(transaction)

    def close(self) -> None:
        if self._opened:
            self._function.close()
