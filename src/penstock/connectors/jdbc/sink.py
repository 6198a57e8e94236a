"""Streams into databases: PyFlink's JdbcSink, and a sink that keeps a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.typeinfo import RowTypeInfo
from penstock.connectors.arguments import instance
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.jdbc.committing import EpochCommitter
from penstock.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from penstock.connectors.jdbc.targets import StatementTarget, TableTarget
from penstock.connectors.jdbc.writing import BatchWriter, EpochWriter
from penstock.functions.sink import Committer, CommitterContext, Sink, SinkWriter, WriterContext
from penstock.functions.source_sink import SinkFunction

__all__ = ["JdbcSink", "JdbcTableSink"]


class _DatabaseSink(Sink):
    """Whatever is done with the rows."""

    def __init__(
        self,
        target: StatementTarget | TableTarget,
        connection: JdbcConnectionOptions,
        execution: JdbcExecutionOptions | None,
        guarantee: DeliveryGuarantee,
    ) -> None:
        super().__init__()
        if guarantee is DeliveryGuarantee.NONE:
            raise NotSupportedError("A database is written at least once or exactly once; nothing is gained by less.")
        if guarantee is DeliveryGuarantee.EXACTLY_ONCE and execution is not None and execution.has_batches:
            warnings.warn(
                "Batch size and interval have no effect exactly once: the rows of an epoch are written at its end, all"
                " in one transaction.",
                stacklevel=4,
            )
        self._target = target
        self._address = connection.address
        self._execution = execution or JdbcExecutionOptions.defaults()
        self._exactly_once = guarantee is DeliveryGuarantee.EXACTLY_ONCE

    def create_writer(self, context: WriterContext) -> SinkWriter:
        if self._exactly_once:
            return EpochWriter(self._address, self._target, context)
        return BatchWriter(self._address, self._target, self._execution, context)

    def create_committer(self, context: CommitterContext) -> Committer | None:
        if not self._exactly_once:
            return None
        return EpochCommitter(self._address, self._target, context, self._execution.get_max_retries())


class JdbcTableSink(_DatabaseSink):
    """Keeps a table as the rows of a stream say, for ``ds.sink_to``.

    With a key, a row replaces the one with its key, and one of the kind DELETE removes it; without, rows are appended.
    """

    def __init__(
        self,
        connection: JdbcConnectionOptions,
        table: str,
        columns: Sequence[str],
        key: Sequence[str] = (),
        guarantee: DeliveryGuarantee = DeliveryGuarantee.AT_LEAST_ONCE,
        execution: JdbcExecutionOptions | None = None,
    ) -> None:
        super().__init__(TableTarget(table, columns, key), connection, execution, guarantee)


class JdbcSink(SinkFunction):
    """Executes a statement for each record: ``ds.add_sink(JdbcSink.sink(...))``."""

    def __init__(self, j_jdbc_sink: Any = None) -> None:
        super().__init__(j_jdbc_sink)
        self._sink: Sink | None = None

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """At least once: after a failure rows may be written again, which an upsert does not mind."""
        return _jdbc_sink(
            sql, type_info, jdbc_connection_options, jdbc_execution_options, DeliveryGuarantee.AT_LEAST_ONCE
        )

    @staticmethod
    def exactly_once_sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """All rows of an epoch appear in one transaction, which also writes the epoch's number (beyond PyFlink)."""
        return _jdbc_sink(
            sql, type_info, jdbc_connection_options, jdbc_execution_options, DeliveryGuarantee.EXACTLY_ONCE
        )

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        raise NotSupportedError("JdbcSink is attached as a whole by ds.add_sink; invoke is not called.")

    def _as_sink(self) -> Sink:
        if self._sink is None:
            raise ProgramError("Make a JdbcSink with JdbcSink.sink(sql, type_info, connection_options).")
        return self._sink


def _jdbc_sink(
    sql: str,
    type_info: RowTypeInfo,
    connection: JdbcConnectionOptions,
    execution: JdbcExecutionOptions | None,
    guarantee: DeliveryGuarantee,
) -> JdbcSink:
    if not isinstance(type_info, RowTypeInfo):
        raise ProgramError(f"JdbcSink takes the type of its rows as Types.ROW([...]), not {type_info!r}.")
    if not isinstance(connection, JdbcConnectionOptions):
        raise ProgramError(f"JdbcSink takes JdbcConnectionOptions, not {connection!r}.")
    instance("JdbcSink", sql, str)
    if execution is not None:
        instance("JdbcSink", execution, JdbcExecutionOptions)
    sink = JdbcSink()
    sink._sink = _DatabaseSink(StatementTarget(sql, type_info), connection, execution, guarantee)
    return sink
