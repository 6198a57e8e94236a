"""CassandraSink and its builder, with PyFlink's names."""

from __future__ import annotations

import logging
from enum import Enum
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.time import Duration
from penstock.common.typeinfo import ExternalTypeInfo, RowTypeInfo, TupleTypeInfo
from penstock.connectors.arguments import instance, number, text
from penstock.connectors.cassandra.cluster import ClusterBuilder, HostCluster
from penstock.connectors.cassandra.writing import (
    CassandraCommitter,
    CassandraFailureHandler,
    RowsAsTheyCome,
    RowsFromLog,
)
from penstock.functions.sink import Sink
from penstock.functions.write_ahead import CheckpointCommitter

__all__ = ["CassandraSink", "ConsistencyLevel", "MapperOptions"]

_logger = logging.getLogger("penstock.cassandra")


class ConsistencyLevel(Enum):
    """How many replicas must have a write."""

    ANY = 0
    ONE = 1
    TWO = 2
    THREE = 3
    QUORUM = 4
    ALL = 5
    LOCAL_QUORUM = 6
    EACH_QUORUM = 7
    SERIAL = 8
    LOCAL_SERIAL = 9
    LOCAL_ONE = 10


class MapperOptions:
    """Settings of the Java driver's mapper for POJOs. Streams of Python have none, so that these have no effect, in
    PyFlink neither: TTL, timestamp and IF NOT EXISTS belong into the query, the rest into the ClusterBuilder."""

    def ttl(self, ttl: int) -> MapperOptions:
        return self

    def timestamp(self, timestamp: int) -> MapperOptions:
        return self

    def consistency_level(self, cl: ConsistencyLevel) -> MapperOptions:
        return self

    def tracing(self, enabled: bool) -> MapperOptions:
        return self

    def save_null_fields(self, enabled: bool) -> MapperOptions:
        return self

    def if_not_exists(self, enabled: bool) -> MapperOptions:
        return self


class CassandraSink:
    """The end of a stream of tuples or rows in a table of Cassandra's::

        CassandraSink.add_sink(stream).set_query(
            "INSERT INTO shop.totals (customer, total) VALUES (?, ?)"
        ).set_host("localhost").build()

    At least once; a statement that may be repeated (INSERT, UPDATE, DELETE by key) leaves each row once. With
    ``enable_write_ahead_log()`` only results of complete epochs are written.
    """

    def __init__(self, j_cassandra_sink: Any) -> None:
        self._sink = j_cassandra_sink

    def name(self, name: str) -> CassandraSink:
        self._sink.name(name)
        return self

    def uid(self, uid: str) -> CassandraSink:
        self._sink.uid(uid)
        return self

    def set_uid_hash(self, uid_hash: str) -> CassandraSink:
        self._sink.set_uid_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> CassandraSink:
        self._sink.set_parallelism(parallelism)
        return self

    def disable_chaining(self) -> CassandraSink:
        self._sink.disable_chaining()
        return self

    def slot_sharing_group(self, slot_sharing_group: str) -> CassandraSink:
        self._sink.slot_sharing_group(slot_sharing_group)
        return self

    @staticmethod
    def add_sink(input: Any) -> CassandraSinkBuilder:
        type_info = input._type_info
        if isinstance(type_info, ExternalTypeInfo):
            type_info = type_info.type_info
        if not isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
            raise ProgramError(
                f"CassandraSink takes streams of tuples or rows, not of {type_info}: give the operator before it an"
                " output_type such as Types.TUPLE([...]) or Types.ROW([...])."
            )
        return CassandraSinkBuilder(input)


class CassandraSinkBuilder:
    """Settings of a :class:`CassandraSink`: a query and a place are needed."""

    def __init__(self, j_cassandra_sink_builder: Any) -> None:
        self._stream = j_cassandra_sink_builder
        self._query = ""
        self._builder: ClusterBuilder | None = None
        self._handler = CassandraFailureHandler.no_op()
        self._handler_given = False
        self._logs = False
        self._committer: CheckpointCommitter | None = None
        self._side_by_side: int | None = None
        self._patience_ms: int | None = None
        self._ignores_nulls = False

    def set_query(self, query: str) -> CassandraSinkBuilder:
        """The statement for each record, with a ``?`` for each of its fields."""
        self._query = text("set_query", query)
        return self

    def set_host(self, host: str, port: int = 9042) -> CassandraSinkBuilder:
        self._refuse_two_places()
        self._builder = HostCluster(instance("set_host", host, str), number("set_host", port, 1, 65_535))
        return self

    def set_cluster_builder(self, builder: ClusterBuilder) -> CassandraSinkBuilder:
        self._refuse_two_places()
        if not isinstance(builder, ClusterBuilder):
            raise ProgramError(f"set_cluster_builder() takes a ClusterBuilder, got {builder!r}")
        self._builder = builder
        return self

    def _refuse_two_places(self) -> None:
        if self._builder is not None:
            raise ProgramError("Use either set_host() or set_cluster_builder(), once.")

    def enable_write_ahead_log(self, committer: CheckpointCommitter | None = None) -> CassandraSinkBuilder:
        """Rows wait in the job until their epoch is complete. A statement that may be repeated leaves each once."""
        self._logs = True
        self._committer = (
            None if committer is None else instance("enable_write_ahead_log", committer, CheckpointCommitter)
        )
        return self

    def set_mapper_options(self, options: MapperOptions) -> CassandraSinkBuilder:
        instance("set_mapper_options", options, MapperOptions)
        _logger.warning("set_mapper_options() has no effect: only streams of Java POJOs are written by a mapper")
        return self

    def set_failure_handler(self, failure_handler: CassandraFailureHandler) -> CassandraSinkBuilder:
        """Who decides about statements that fail; not asked with a write-ahead log."""
        if not isinstance(failure_handler, CassandraFailureHandler):
            raise ProgramError(f"set_failure_handler() takes a CassandraFailureHandler, got {failure_handler!r}")
        self._handler = failure_handler
        self._handler_given = True
        return self

    def set_max_concurrent_requests(
        self, max_concurrent_requests: int, duration: Duration | None = None
    ) -> CassandraSinkBuilder:
        """Of each subtask; the job fails when a further one has to wait longer than the duration."""
        self._side_by_side = number("set_max_concurrent_requests", max_concurrent_requests, 1)
        if duration is not None and instance("set_max_concurrent_requests", duration, Duration).to_millis() <= 0:
            raise ProgramError("set_max_concurrent_requests() takes a duration above zero.")
        self._patience_ms = None if duration is None else duration.to_millis()
        return self

    def enable_ignore_null_fields(self) -> CassandraSinkBuilder:
        """None leaves a column as it is, instead of removing what is there. No effect with a write-ahead log."""
        self._ignores_nulls = True
        return self

    def build(self) -> CassandraSink:
        if not self._query:
            raise ProgramError("Query must not be null or empty: call set_query().")
        if self._builder is None:
            raise ProgramError("Where is Cassandra? Call set_host() or set_cluster_builder().")
        return CassandraSink(self._stream.sink_to(self._sink(self._builder)).name("Cassandra Sink"))

    def _tell_what_is_left_out(self) -> None:
        """Flink's write-ahead sink does not look at these, so that programs may have them."""
        chosen = {
            "set_failure_handler()": self._handler_given,
            "set_max_concurrent_requests()": self._side_by_side is not None,
            "enable_ignore_null_fields()": self._ignores_nulls,
        }
        for method in [method for method, given in chosen.items() if given]:
            _logger.warning("%s has no effect with enable_write_ahead_log(), as in Flink", method)

    def _sink(self, builder: ClusterBuilder) -> Sink:
        if self._logs:
            self._tell_what_is_left_out()
            committer = self._committer or CassandraCommitter.default_checkpoint_committer(builder)
            return RowsFromLog(builder, self._query, committer)
        return RowsAsTheyCome(
            builder, self._query, self._handler, self._ignores_nulls, self._side_by_side, self._patience_ms
        )


CassandraSink.CassandraSinkBuilder = CassandraSinkBuilder  # type: ignore[attr-defined]
