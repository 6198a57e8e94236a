"""Rows on standard output, and rows that are thrown away."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.kernels.datum import as_array
from penstock.columns.kernels.python_columns import to_python
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.common.text import java_text
from penstock.functions.sink import Sink, SinkWriter, WriterContext
from penstock.runtime.table.codec import TableCodec, with_kinds
from penstock.runtime.table.row_type import TableRowType
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink

_KINDS = ("+I", "-U", "+U", "-D")


class PrintConnector(TableConnector):
    """`+I[1, tea]`, one line for each row."""

    name = "print"
    options = ("print-identifier", "standard-error", "sink.parallelism")

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD"

    def sink(self, table: ConnectorTable) -> TableSink:
        sink = _PrintSink(table.options.get("print-identifier", ""), table.boolean("standard-error", False))
        return TableSink(sink, table.name, parallelism=table.number("sink.parallelism", 0) or None)


class _PrintSink(Sink):
    def __init__(self, identifier: str, to_errors: bool) -> None:
        super().__init__()
        self._identifier, self._to_errors = identifier, to_errors

    def create_writer(self, context: WriterContext) -> SinkWriter:
        number = str(context.subtask + 1) if context.parallelism > 1 else ""
        prefix = ":".join(part for part in (self._identifier, number) if part)
        assert isinstance(context.type_info, TableRowType)
        return _PrintWriter(f"{prefix}> " if prefix else "", context.type_info, self._to_errors)


class _PrintWriter(SinkWriter):
    def __init__(self, prefix: str, row_type: TableRowType, to_errors: bool) -> None:
        self._prefix, self._to_errors = prefix, to_errors
        self._codec = TableCodec(row_type)

    def write(self, records: Any) -> None:
        batch = records.in_columns(self._codec)
        columns = zip(self._codec.arrays(batch), self._codec.row_type.types, strict=True)
        texts = [java_texts(column, kind) for column, kind in columns]
        kinds = with_kinds(batch).tolist()
        rows = zip(*texts, strict=True) if texts else [()] * len(kinds)
        lines = [f"{self._prefix}{_KINDS[kind]}[{', '.join(row)}]\n" for kind, row in zip(kinds, rows, strict=True)]
        (sys.stderr if self._to_errors else sys.stdout).write("".join(lines))


def java_texts(column: pa.Array, kind: DataType) -> list[str]:
    """Values as Java's toString() shows them: `2020-01-01T00:00`, `true`, `1970-01-01T00:00:00Z`."""
    if isinstance(kind, (scalars.TimestampType, scalars.LocalZonedTimestampType)):
        zone = "Z" if isinstance(kind, scalars.LocalZonedTimestampType) else ""
        found = as_array(texts_of(column, kind, "UTC"), len(column)).to_pylist()
        return ["null" if text is None else _java_moment(text, bool(zone)) + zone for text in found]
    if families.is_boolean(kind):
        return ["null" if value is None else str(value).lower() for value in column.to_pylist()]
    if families.is_bytes(kind) or kind.children():
        return [java_text(value) for value in to_python(column, kind)]
    return [
        "null" if text is None else text for text in as_array(texts_of(column, kind, "UTC"), len(column)).to_pylist()
    ]


def _java_moment(text: str, instant: bool) -> str:
    """The fraction in groups of three digits; a LocalDateTime leaves seconds out that are zero."""
    whole, _, fraction = text.partition(".")
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    fraction = fraction.ljust(-(-len(fraction) // 3) * 3, "0")
    if not instant and not fraction.strip("0") and whole.endswith(":00"):
        whole, fraction = whole[:-3], ""
    return whole.replace(" ", "T") + (f".{fraction}" if fraction.strip("0") else "")


class BlackholeConnector(TableConnector):
    """Takes rows and forgets them."""

    name = "blackhole"
    options = ("sink.parallelism",)

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD"

    def sink(self, table: ConnectorTable) -> TableSink:
        return TableSink(_Blackhole(), table.name, parallelism=table.number("sink.parallelism", 0) or None)


class _Blackhole(Sink):
    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _ForgettingWriter()


class _ForgettingWriter(SinkWriter):
    def write(self, records: Any) -> None:
        pass
