"""Files with a message in each line, such as JSON: a schema decodes many at once, in columns where it can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.serialization import DeserializationSchema
from penstock.formats.decoding import decode
from penstock.formats.file_formats import FileFormat
from penstock.formats.text_lines import ByteLines
from penstock.functions.bad_records import BadRecord
from penstock.runtime.batch import Batch

Records = list[Any] | Batch


class MessageLines(FileFormat):
    """Empty lines are no messages."""

    block = ByteLines.block

    def __init__(self, schema: DeserializationSchema, splittable: bool = True) -> None:
        if not isinstance(schema, DeserializationSchema):
            raise ProgramError(
                f"Lines are read by a DeserializationSchema such as JsonRowDeserializationSchema, not {schema!r}."
            )
        self._lines = ByteLines(splittable=splittable)
        self._schema = schema

    def extent(self, path: str, size: int) -> int:
        return self._lines.extent(path, size)

    def records_per_unit(self, path: str, extent: int) -> float:
        return self._lines.records_per_unit(path, extent)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[Records | BadRecord]:
        for lines in self._lines.read(path, start, end, extent):
            messages = [line for line in lines if line] if b"" in lines else lines
            decoded = decode(self._schema, messages)
            for position, reason in decoded.bad:
                yield BadRecord(messages[position], f"a line of {path}", reason)
            if len(decoded.records):
                yield decoded.records
