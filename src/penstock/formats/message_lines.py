"""Files with a message in each line, such as JSON: a schema decodes many at once, in columns where it can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.serialization import DeserializationSchema
from penstock.formats.compression import blocks
from penstock.formats.decoding import decode
from penstock.formats.text_lines import TextLines, range_of_lines
from penstock.functions.bad_records import BadRecord
from penstock.runtime.batch import Batch

Records = list[Any] | Batch


class MessageLines(TextLines):
    """Lines as bytes; empty ones are no messages."""

    def __init__(self, schema: DeserializationSchema, splittable: bool = True) -> None:
        super().__init__(splittable=splittable)
        if not isinstance(schema, DeserializationSchema):
            raise ProgramError(
                f"Lines are read by a DeserializationSchema such as JsonRowDeserializationSchema, not {schema!r}."
            )
        self._schema = schema

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[Records | BadRecord]:
        if self._splits(path):
            return self._messages(range_of_lines(path, start, end, extent), path)
        return self.read_all(path)

    def read_all(self, path: str) -> Iterator[Records | BadRecord]:
        return self._messages(blocks(path), path)

    def _messages(self, raw: Iterable[bytes], path: str) -> Iterator[Records | BadRecord]:
        for content in _whole_lines(raw):
            lines = content.replace(b"\r\n", b"\n").split(b"\n")
            messages = [line for line in lines if line] if b"" in lines else lines
            decoded = decode(self._schema, messages)
            for position, reason in decoded.bad:
                yield BadRecord(messages[position], f"a line of {path}", reason)
            if len(decoded.records):
                yield decoded.records


def _whole_lines(raw: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in raw:
        joined = rest + block
        cut = joined.rfind(b"\n") + 1
        if cut:
            yield joined[:cut]
        rest = joined[cut:]
    if rest:
        yield rest
