"""What a format is: messages become rows, rows become messages, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import parse_boolean
from penstock.runtime.batch import Kinds
from penstock.table.logical.nodes import Fields
from penstock.table.sql.errors import suggestion


@dataclass(frozen=True)
class Decoded:
    """Rows of messages: their columns, their kinds if some are no insertions, and of which message each row is."""

    columns: list[pa.Array]
    messages: npt.NDArray[np.int64]
    kinds: Kinds | None = None


class Decoder:
    """Picklable; `fields` are the columns that it gives."""

    reads_empty_lines = False  # of files: elsewhere they are no messages

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        raise NotImplementedError


class Encoder:
    """Picklable; a message for each row."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        raise NotImplementedError

    def block(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> bytes | memoryview:
        """The messages as lines of a file."""
        return b"".join(message + b"\n" for message in self.encode(columns, kinds, rows))


@dataclass(frozen=True)
class FormatOptions:
    """The options of a format, without its prefix."""

    name: str
    table: str
    values: dict[str, str] = field(default_factory=dict)
    zone: str = "UTC"

    def checked(self, known: Sequence[str]) -> FormatOptions:
        for key in self.values:
            if key not in known:
                raise ProgramError(
                    f"The format '{self.name}' of the table {self.table} has no option '{key}'.{suggestion(key, known)}"
                )
        return self

    def text(self, key: str, default: str | None = None) -> str | None:
        return self.values.get(key, default)

    def boolean(self, key: str, default: bool = False) -> bool:
        try:
            return parse_boolean(self.values[key]) if key in self.values else default
        except ValueError as error:
            raise ProgramError(f"'{self.name}.{key}' of the table {self.table}: {error}") from None

    def chosen(self, key: str, values: Sequence[str], default: str) -> str:
        value = self.values.get(key, default)
        if value not in values:
            raise ProgramError(f"'{self.name}.{key}' of {self.table} is '{value}', but can be {', '.join(values)}.")
        return value


@dataclass(frozen=True)
class TableFormat:
    """How a format is made; `changelog` are the kinds that its messages may have."""

    decoder: Callable[[Fields, FormatOptions], Decoder] | None
    encoder: Callable[[Fields, FormatOptions], Encoder] | None
    changelog: str = "I"

    def decoder_of(self, fields: Fields, options: FormatOptions) -> Decoder:
        if self.decoder is None:
            raise NotSupportedError(f"The format '{options.name}' cannot be read (table {options.table}).")
        return self.decoder(fields, options)

    def encoder_of(self, fields: Fields, options: FormatOptions) -> Encoder:
        if self.encoder is None:
            raise NotSupportedError(f"The format '{options.name}' cannot be written (table {options.table}).")
        return self.encoder(fields, options)


def every_message(count: int) -> npt.NDArray[np.int64]:
    return np.arange(count, dtype=np.int64)


def columns_of(rows: list[Any], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
