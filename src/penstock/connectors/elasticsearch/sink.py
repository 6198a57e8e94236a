"""A stream into an index of Elasticsearch or OpenSearch: PyFlink's builders."""

from __future__ import annotations

from abc import ABC
from enum import Enum
from typing import Any, NoReturn, Self
from urllib.parse import urlsplit

from penstock.common.errors import ConfigurationError, JobExecutionError, NotSupportedError, ProgramError
from penstock.common.types import Row, RowKind
from penstock.connectors.arguments import instance, text
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.elasticsearch.actions import delete_action, index_action
from penstock.connectors.elasticsearch.bulk import Backoff, BulkClient, ClusterAddress
from penstock.functions.sink import Records, Sink, SinkWriter, WriterContext

__all__ = [
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "ElasticsearchSinkBuilderBase",
    "FlushBackoffType",
]


class FlushBackoffType(Enum):
    """How the pauses between retries grow when the cluster is too busy."""

    CONSTANT = "CONSTANT"
    EXPONENTIAL = "EXPONENTIAL"
    NONE = "NONE"


class ElasticsearchEmitter:
    """Says which index a record goes to, and under which id: records are dictionaries or rows with names."""

    def __init__(self, index: str | None, index_field: str | None, key_field: str | None, doc_type: str | None) -> None:
        self._index = index
        self._index_field = index_field
        self._key_field = key_field
        self.doc_type = doc_type

    @staticmethod
    def static_index(index: str, key_field: str | None = None, doc_type: str | None = None) -> ElasticsearchEmitter:
        return ElasticsearchEmitter(instance("static_index", index, str), None, key_field, doc_type)

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """The index is the value of a field."""
        return ElasticsearchEmitter(None, instance("dynamic_index", index_field, str), key_field, doc_type)

    def action(self, record: Any, names: list[str] | None) -> bytes | None:
        """None for what the following record says, too."""
        kind = record.get_row_kind() if isinstance(record, Row) else RowKind.INSERT
        if kind is RowKind.UPDATE_BEFORE and self._key_field is not None:
            return None
        if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE) and self._key_field is None:
            raise JobExecutionError(
                f"ElasticsearchSink needs a key field for a changelog, to find the document that is gone:"
                f" {record!r:.200}"
            )
        columns = (record._fields or names) if isinstance(record, Row) else None
        if columns:
            document = dict(zip(columns, record._values, strict=True))
        elif isinstance(record, dict):
            document = record
        else:
            raise JobExecutionError(f"ElasticsearchSink takes dictionaries or rows with names, not {record!r:.200}.")
        index = self._index if self._index_field is None else document.get(self._index_field)
        id_ = None if self._key_field is None else document.get(self._key_field)
        if index is None or (self._key_field is not None and id_ is None):
            missing = self._index_field if index is None else self._key_field
            raise JobExecutionError(f"ElasticsearchSink needs the field {missing!r} of each record: {record!r:.200}")
        if kind is RowKind.DELETE:
            return delete_action(str(index), id_, self.doc_type)
        return index_action(str(index), id_, document, self.doc_type)


class ElasticsearchSink(Sink):
    """Made by a builder, for ``ds.sink_to``. At least once; with a key field each document is there once."""

    def __init__(
        self,
        address: ClusterAddress,
        emitter: ElasticsearchEmitter,
        max_actions: int,
        max_bytes: int,
        interval_ms: int,
        backoff: Backoff,
        flushes: bool,
    ) -> None:
        super().__init__()
        self.address = address
        self.emitter = emitter
        self.max_actions = max_actions
        self.max_bytes = max_bytes
        self.interval_ms = interval_ms
        self.backoff = backoff
        self.flushes = flushes

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return BulkWriter(self, context)


class BulkWriter(SinkWriter):
    """Collects documents until there are enough of them, it is time, or the epoch ends."""

    def __init__(self, sink: ElasticsearchSink, context: WriterContext) -> None:
        self._sink = sink
        self._names = getattr(context.type_info, "get_field_names", lambda: None)()
        self._clock = context.current_processing_time
        self._client = BulkClient(sink.address, sink.backoff)
        self._actions: list[bytes] = []
        self._bytes = 0
        self._due: int | None = None

    def write(self, records: Records) -> None:
        sink = self._sink
        for record in records.values:
            action = sink.emitter.action(record, self._names)
            if action is None:
                continue
            self._actions.append(action)
            self._bytes += len(action)
            enough = 0 < sink.max_actions <= len(self._actions) or 0 < sink.max_bytes <= self._bytes
            if enough:
                self._send()
        if sink.interval_ms > 0 and self._due is None and self._actions:
            self._due = self._clock() + sink.interval_ms

    def flush(self, end_of_input: bool) -> None:
        if self._actions and (end_of_input or self._sink.flushes):
            self._send()

    def _send(self) -> None:
        self._client.send(self._actions)
        self._actions, self._bytes, self._due = [], 0, None

    def next_wake_up(self) -> int | None:
        return self._due

    def wake_up(self, now: int) -> None:
        if self._actions:
            self._send()

    def close(self) -> None:
        self._client.close()


class ElasticsearchSinkBuilderBase(ABC):
    """What all builders have."""

    _needs_doc_type = False

    def __init__(self) -> None:
        self._emitter: ElasticsearchEmitter | None = None
        self._hosts: list[str] = []
        self._guarantee = DeliveryGuarantee.AT_LEAST_ONCE
        self._max_actions = 1000
        self._max_bytes = -1
        self._interval_ms = -1
        self._backoff = Backoff()
        self._address: dict[str, Any] = {}

    def get_http_host_class(self) -> NoReturn:
        raise NotSupportedError("There is no Java class behind hosts: give them as text, http://host:9200.")

    def set_emitter(self, emitter: ElasticsearchEmitter) -> Self:
        if not isinstance(emitter, ElasticsearchEmitter):
            raise ProgramError("set_emitter() takes ElasticsearchEmitter.static_index(...) or .dynamic_index(...).")
        self._emitter = emitter
        return self

    def set_hosts(self, hosts: str | list[str]) -> Self:
        names = [instance("set_hosts", host, str) for host in (hosts if isinstance(hosts, (list, tuple)) else [hosts])]
        if any("@" in host for host in names):
            raise ConfigurationError(
                "Hosts are shown in messages: give user and password with set_connection_username(...) and"
                " set_connection_password(...)."
            )
        self._hosts = [(host if "://" in host else f"http://{host}").rstrip("/") for host in names]
        for host in self._hosts:
            if not _is_address(host):
                raise ConfigurationError(f"set_hosts() takes addresses such as 'localhost:9200', not {host!r}.")
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        if not isinstance(delivery_guarantee, DeliveryGuarantee):
            raise ProgramError(f"set_delivery_guarantee() takes a DeliveryGuarantee, got {delivery_guarantee!r}")
        if delivery_guarantee is DeliveryGuarantee.EXACTLY_ONCE:
            raise NotSupportedError(
                "Elasticsearch has no transactions, so that exactly once is not to be had: use AT_LEAST_ONCE with a key"
                " field, by which a repeated document replaces itself."
            )
        self._guarantee = delivery_guarantee
        return self

    def set_bulk_flush_max_actions(self, num_max_actions: int) -> Self:
        self._max_actions = _number("set_bulk_flush_max_actions", num_max_actions, 1)
        return self

    def set_bulk_flush_max_size_mb(self, max_size_mb: int) -> Self:
        megabytes = _number("set_bulk_flush_max_size_mb", max_size_mb, 1)
        self._max_bytes = megabytes * 1024 * 1024 if megabytes > 0 else -1
        return self

    def set_bulk_flush_interval(self, interval_millis: int) -> Self:
        self._interval_ms = _number("set_bulk_flush_interval", interval_millis, 0)
        return self

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> Self:
        if not isinstance(flush_backoff_type, FlushBackoffType):
            raise ProgramError(
                f"set_bulk_flush_backoff_strategy() takes a FlushBackoffType, got {flush_backoff_type!r}"
            )
        if flush_backoff_type is FlushBackoffType.NONE:
            self._backoff = Backoff()
            return self
        self._backoff = Backoff(
            _number("set_bulk_flush_backoff_strategy", max_retries, 1, disabled=False),
            _number("set_bulk_flush_backoff_strategy", delay_millis, 0, disabled=False),
            flush_backoff_type is FlushBackoffType.EXPONENTIAL,
        )
        return self

    def set_connection_username(self, username: str) -> Self:
        self._address["user_name"] = text("set_connection_username", username)
        return self

    def set_connection_password(self, password: str) -> Self:
        self._address["password"] = text("set_connection_password", password)
        return self

    def set_connection_path_prefix(self, prefix: str) -> Self:
        instance("set_connection_path_prefix", prefix, str)
        self._address["path_prefix"] = f"/{prefix.strip('/')}".rstrip("/")
        return self

    def set_connection_request_timeout(self, timeout: int) -> Self:
        """How long, in milliseconds, a request may wait for a connection."""
        self._address["request_timeout_ms"] = _number("set_connection_request_timeout", timeout, 1, disabled=False)
        return self

    def set_connection_timeout(self, timeout: int) -> Self:
        self._address["connection_timeout_ms"] = _number("set_connection_timeout", timeout, 1, disabled=False)
        return self

    def set_socket_timeout(self, timeout: int) -> Self:
        self._address["socket_timeout_ms"] = _number("set_socket_timeout", timeout, 1, disabled=False)
        return self

    def build(self) -> ElasticsearchSink:
        if self._emitter is None or not self._hosts:
            raise ConfigurationError("An Elasticsearch sink needs set_emitter(...) and set_hosts(...).")
        if (self._address.get("user_name") is None) != (self._address.get("password") is None):
            raise ConfigurationError("set_connection_username(...) and set_connection_password(...) need each other.")
        if self._needs_doc_type != (self._emitter.doc_type is not None):
            what = "needs a doc_type" if self._needs_doc_type else "has no document types: leave doc_type out"
            raise ConfigurationError(f"{type(self).__name__.removesuffix('SinkBuilder')} {what}.")
        return ElasticsearchSink(
            ClusterAddress(tuple(self._hosts), **self._address),
            self._emitter,
            self._max_actions,
            self._max_bytes,
            self._interval_ms,
            self._backoff,
            self._guarantee is DeliveryGuarantee.AT_LEAST_ONCE,
        )


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """For Elasticsearch 6, whose documents have types."""

    _needs_doc_type = True

    def get_http_host_class(self) -> NoReturn:
        super().get_http_host_class()


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """For Elasticsearch 7 and 8, and for OpenSearch."""

    def get_http_host_class(self) -> NoReturn:
        super().get_http_host_class()


def _number(method: str, given: Any, least: int, disabled: bool = True) -> int:
    """-1 stands for "not at all" where that can be."""
    if isinstance(given, bool) or not isinstance(given, int) or (given < least and not (disabled and given == -1)):
        switch = ", or -1 to switch it off" if disabled else ""
        raise ConfigurationError(f"{method}() takes whole numbers from {least} on{switch}, got {given!r}.")
    return given


def _is_address(host: str) -> bool:
    try:
        parts = urlsplit(host)
        _ = parts.port  # says so if it is no number
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in host
