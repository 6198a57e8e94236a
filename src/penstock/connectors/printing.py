"""Records as text on standard output."""

from __future__ import annotations

import sys

from penstock.common.text import print_text
from penstock.functions.sink import Records, Sink, SinkWriter, WriterContext


class PrintSink(Sink):
    """Writes each record as a line of its own, after the identifier if there is one."""

    def __init__(self, identifier: str | None = None) -> None:
        super().__init__()
        self._identifier = identifier

    def create_writer(self, context: WriterContext) -> SinkWriter:
        number = str(context.subtask + 1) if context.parallelism > 1 else ""
        prefix = ":".join(part for part in (self._identifier, number) if part)
        return _PrintWriter(f"{prefix}> " if prefix else "", context)


class _PrintWriter(SinkWriter):
    """The container brings what is printed here to the driver, which shows it when the epoch is complete."""

    def __init__(self, prefix: str, context: WriterContext) -> None:
        self._prefix = prefix
        self._type = context.type_info

    def write(self, records: Records) -> None:
        prefix, type_info = self._prefix, self._type
        sys.stdout.write("".join(f"{prefix}{print_text(value, type_info)}\n" for value in records.values))
