"""Rows into Cassandra: as they come, or from a log once their epoch is complete."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.types import Row
from penstock.common.utils import refuse_java_object
from penstock.connectors.arguments import instance, text
from penstock.connectors.cassandra.cluster import ClusterBuilder, Statements, connected, is_away
from penstock.connectors.reaching import reach
from penstock.functions.sink import Records, Sink, SinkWriter, WriterContext
from penstock.functions.write_ahead import CheckpointCommitter, GenericWriteAheadSink

__all__ = ["CassandraCommitter", "CassandraFailureHandler", "RowsAsTheyCome", "RowsFromLog"]

_KEYSPACE = "flink_auxiliary"


class CassandraFailureHandler:
    """Decides about a statement that failed. Subclass it, with an :meth:`on_failure` that raises or returns."""

    def __init__(self, j_cassandra_failure_handler: Any = None) -> None:
        refuse_java_object(
            type(self).__name__,
            "j_cassandra_failure_handler",
            j_cassandra_failure_handler,
            "Write a subclass with on_failure(failure).",
        )

    @staticmethod
    def no_op() -> CassandraFailureHandler:
        """Any failure fails the job; the same as without a handler."""
        return CassandraFailureHandler()

    def on_failure(self, failure: BaseException) -> None:
        raise failure


def values_of(record: Any) -> tuple[Any, ...]:
    if isinstance(record, Row):
        return tuple(record._values)
    if isinstance(record, tuple):
        return record
    raise JobExecutionError(f"CassandraSink takes tuples and rows, not {record!r:.200}.")


class RowsAsTheyCome(Sink):
    """At least once: an epoch is complete only when Cassandra has all of its rows."""

    def __init__(
        self,
        builder: ClusterBuilder,
        query: str,
        handler: CassandraFailureHandler,
        ignores_nulls: bool,
        side_by_side: int | None,
        patience_ms: int | None,
    ) -> None:
        super().__init__()
        self._sending = (builder, query, ignores_nulls, side_by_side, patience_ms)
        self._handler = handler

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _Writer(self._sending, self._handler)


class _Writer(SinkWriter):
    def __init__(self, sending: tuple[Any, ...], handler: CassandraFailureHandler) -> None:
        self._sending = sending
        self._handler = handler
        self._statements: Statements | None = None

    def open(self) -> None:
        self._statements = Statements(*self._sending)

    def write(self, records: Records) -> None:
        assert self._statements is not None
        self._statements.check(self._failed)
        self._statements.send(map(values_of, records.values))

    def flush(self, end_of_input: bool) -> None:
        assert self._statements is not None
        self._statements.wait()
        self._statements.check(self._failed)

    def _failed(self, failure: BaseException) -> None:
        assert self._statements is not None
        try:
            self._handler.on_failure(failure)
        except BaseException as error:
            if error is not failure:
                raise
            raise JobExecutionError(f"{self._statements.name}: a statement failed: {failure}") from None

    def close(self) -> None:
        if self._statements is not None:
            self._statements.close()


class RowsFromLog(GenericWriteAheadSink[Any]):
    """Exactly once, for statements that may be repeated: only results of a complete epoch ever arrive."""

    def __init__(self, builder: ClusterBuilder, query: str, committer: CheckpointCommitter) -> None:
        super().__init__(committer)
        self._builder = builder
        self._query = query

    def open(self) -> None:
        self._statements = Statements(self._builder, self._query)

    def send_values(self, values: list[Any], checkpoint_id: int, timestamp: int) -> bool:
        self._statements.send(map(values_of, values))
        self._statements.wait()
        self._statements.check(self._failed)
        return True

    def _failed(self, failure: BaseException) -> None:
        raise JobExecutionError(f"{self._statements.name}: a statement failed: {failure}")

    def close(self) -> None:
        if hasattr(self, "_statements"):
            self._statements.close()


class CassandraCommitter(CheckpointCommitter):
    """Notes in a table of Cassandra's, for each sink and subtask, up to which epoch rows were sent."""

    def __init__(
        self, j_checkpoint_committer: Any = None, *, builder: ClusterBuilder | None = None, key_space: str = _KEYSPACE
    ) -> None:
        refuse_java_object(
            "CassandraCommitter",
            "j_checkpoint_committer",
            j_checkpoint_committer,
            "Use CassandraCommitter.default_checkpoint_committer(builder).",
        )
        self._builder = builder or ClusterBuilder()
        self._key_space = key_space

    @staticmethod
    def default_checkpoint_committer(builder: ClusterBuilder, key_space: str | None = None) -> CassandraCommitter:
        instance("default_checkpoint_committer", builder, ClusterBuilder)
        return CassandraCommitter(
            builder=builder, key_space=text("default_checkpoint_committer", key_space) or _KEYSPACE
        )

    @property
    def _table(self) -> str:
        return f"{self._key_space}.checkpoints_{self.job_id}"

    def create_resource(self) -> None:
        session, _ = connected(self._builder)
        try:
            session.execute(
                f"CREATE KEYSPACE IF NOT EXISTS {self._key_space}"
                " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
            )
            session.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table}"
                " (sink_id text, sub_id int, checkpoint_id bigint, content text, PRIMARY KEY (sink_id, sub_id))"
            )
            if "content" not in session.execute(f"SELECT * FROM {self._table} LIMIT 1").column_names:
                session.execute(f"ALTER TABLE {self._table} ADD content text")  # of an earlier version
        finally:
            session.cluster.shutdown()

    def open(self) -> None:
        self._session, self._name = connected(self._builder)

    def close(self) -> None:
        if hasattr(self, "_session"):
            self._session.cluster.shutdown()

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        self.commit_content(subtask_idx, checkpoint_id, "")

    def commit_content(self, subtask_idx: int, checkpoint_id: int, content: str) -> None:
        update = f"UPDATE {self._table} SET checkpoint_id = %s, content = %s WHERE sink_id = %s AND sub_id = %s"
        self._ask(update, (checkpoint_id, content, self.operator_id, subtask_idx))

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        found = self._noted("checkpoint_id", subtask_idx)
        return found is not None and checkpoint_id <= found

    def committed_content(self, subtask_idx: int) -> str | None:
        content: str | None = self._noted("content", subtask_idx)
        return content

    def _noted(self, column: str, subtask_idx: int) -> Any:
        query = f"SELECT {column} FROM {self._table} WHERE sink_id = %s AND sub_id = %s"
        found = self._ask(query, (self.operator_id, subtask_idx)).one()
        return None if found is None else found[0]

    def _ask(self, query: str, values: tuple[Any, ...]) -> Any:
        return reach(self._name, lambda: self._session.execute(query, values), is_away)
