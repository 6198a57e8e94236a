"""Rows on standard output, and rows that are thrown away."""

from __future__ import annotations

import sys
from typing import Any

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.functions.sink import Sink, SinkWriter, WriterContext
from penstock.runtime.table.codec import TableCodec, with_kinds
from penstock.runtime.table.row_type import TableRowType
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink

_KINDS = ("+I", "-U", "+U", "-D")


class PrintConnector(TableConnector):
    """`+I[1, tea]`, one line for each row."""

    name = "print"
    options = ("print-identifier", "standard-error", "sink.parallelism")

    def sink(self, table: ConnectorTable) -> TableSink:
        sink = _PrintSink(
            table.options.get("print-identifier", ""), table.boolean("standard-error", False), table.session.zone
        )
        return TableSink(sink, f"Sink: {table.name}", "IUD", parallelism=table.number("sink.parallelism", 0) or None)


class _PrintSink(Sink):
    def __init__(self, identifier: str, to_errors: bool, zone: str) -> None:
        super().__init__()
        self._identifier, self._to_errors, self._zone = identifier, to_errors, zone

    def create_writer(self, context: WriterContext) -> SinkWriter:
        number = str(context.subtask + 1) if context.parallelism > 1 else ""
        prefix = ":".join(part for part in (self._identifier, number) if part)
        assert isinstance(context.type_info, TableRowType)
        return _PrintWriter(f"{prefix}> " if prefix else "", context.type_info, self._to_errors, self._zone)


class _PrintWriter(SinkWriter):
    def __init__(self, prefix: str, row_type: TableRowType, to_errors: bool, zone: str) -> None:
        self._prefix, self._to_errors, self._zone = prefix, to_errors, zone
        self._codec = TableCodec(row_type)

    def write(self, records: Any) -> None:
        batch = records.in_columns(self._codec)
        columns = zip(self._codec.arrays(batch), self._codec.row_type.types, strict=True)
        texts = [texts_of(column, kind, self._zone).fill_null("null").to_pylist() for column, kind in columns]
        kinds = with_kinds(batch).tolist()
        rows = zip(*texts, strict=True) if texts else [()] * len(kinds)
        lines = [f"{self._prefix}{_KINDS[kind]}[{', '.join(row)}]\n" for kind, row in zip(kinds, rows, strict=True)]
        (sys.stderr if self._to_errors else sys.stdout).write("".join(lines))


class BlackholeConnector(TableConnector):
    """Takes rows and forgets them."""

    name = "blackhole"
    options = ("sink.parallelism",)

    def sink(self, table: ConnectorTable) -> TableSink:
        return TableSink(
            _Blackhole(), f"Sink: {table.name}", "IUD", parallelism=table.number("sink.parallelism", 0) or None
        )


class _Blackhole(Sink):
    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _ForgettingWriter()


class _ForgettingWriter(SinkWriter):
    def write(self, records: Any) -> None:
        pass
