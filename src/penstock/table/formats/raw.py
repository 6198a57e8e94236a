"""Raw messages: the bytes of the only column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat, every_message
from penstock.table.logical.nodes import Fields

_NUMBERS = {
    scalars.TinyIntType: "i1", scalars.SmallIntType: "i2", scalars.IntType: "i4", scalars.BigIntType: "i8",
    scalars.FloatType: "f4", scalars.DoubleType: "f8",
}  # fmt: skip


class _Raw:
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        options.checked(("charset", "endianness"))
        if len(fields) != 1:
            raise ProgramError(f"The format 'raw' of {options.table} needs a table with exactly one column.")
        kind = fields[0].data_type
        known = families.is_text(kind) or families.is_bytes(kind) or families.is_boolean(kind) or type(kind) in _NUMBERS
        if not known:
            raise NotSupportedError(f"The format 'raw' has no form for {kind.as_summary_string()}.")
        self.kind = kind
        self.charset = options.text("charset", "UTF-8") or "UTF-8"
        order = "<" if options.chosen("endianness", ("big-endian", "little-endian"), "big-endian")[0] == "l" else ">"
        self.number = np.dtype(order + _NUMBERS[type(kind)]) if type(kind) in _NUMBERS else None  # type: ignore[index]
        self.size = 1 if families.is_boolean(kind) else None if self.number is None else self.number.itemsize


class RawDecoder(Decoder):
    reads_empty_lines = True

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        self._raw = _Raw(fields, options)

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        raw = self._raw
        values: object
        if raw.size is not None:
            for message in messages:
                if len(message) != raw.size:
                    raise JobExecutionError(
                        f"A raw message of {len(message)} bytes is no {raw.kind.as_summary_string()}, which has"
                        f" {raw.size}: {message!r:.200}"
                    )
        if raw.number is not None:
            values = np.frombuffer(b"".join(messages), raw.number).tolist()
        elif families.is_text(raw.kind):
            values = [message.decode(raw.charset, "replace") for message in messages]
        elif families.is_boolean(raw.kind):
            values = [message != b"\x00" for message in messages]
        else:
            values = list(messages)
        return Decoded([pa.array(values, to_arrow_type(raw.kind))], every_message(len(messages)))


class RawEncoder(Encoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        self._raw = _Raw(fields, options)

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        raw, values = self._raw, columns[0].to_pylist()
        if raw.number is not None:
            return [b"" if value is None else np.array(value, raw.number).tobytes() for value in values]
        if families.is_text(raw.kind):
            return [b"" if value is None else value.encode(raw.charset) for value in values]
        if families.is_boolean(raw.kind):
            return [b"\x01" if value else b"\x00" for value in values]
        return [b"" if value is None else value for value in values]


FORMAT = TableFormat(RawDecoder, RawEncoder)
