"""Changes of databases as JSON: Debezium, Canal, Maxwell and Oracle GoldenGate, by Flink's options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.common.errors import JobExecutionError
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat
from penstock.table.formats.json import OPTIONS as JSON_OPTIONS
from penstock.table.formats.json import JsonDecoder, JsonEncoder
from penstock.table.formats.text_columns import content_of, joined_texts, messages_of
from penstock.table.logical.nodes import Fields

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)
_Change = tuple[int, dict[str, Any]]
_Reader = Callable[[dict[str, Any], FormatOptions], Iterator[_Change]]
_PLAIN = (*JSON_OPTIONS, "schema-include", "database.include", "table.include")


class ChangeDecoder(Decoder):
    """A message is one change: an update gives the row before and the row after it."""

    def __init__(self, fields: Fields, options: FormatOptions, read: _Reader) -> None:
        super().__init__(fields)
        options.checked(_PLAIN)
        plain = {key: value for key, value in options.values.items() if key in JSON_OPTIONS}
        self._json = JsonDecoder(fields, FormatOptions(options.name, options.table, plain, options.zone))
        self._options, self._read = options, read
        self._lenient = options.boolean("ignore-parse-errors")

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        rows: list[dict[str, Any]] = []
        kinds: list[int] = []
        sources: list[int] = []
        for place, message in enumerate(messages):
            node = self._json.parsed(message) if message else None
            if node is None:
                continue  # a tombstone, which says nothing that the deletion before it has not said
            for kind, row in self._changes(node):
                kinds.append(kind)
                rows.append(row)
                sources.append(place)
        marks = np.array(kinds, np.int8)
        return Decoded(self._json.columns(rows), np.array(sources, np.int64), marks if marks.any() else None)

    def _changes(self, node: dict[str, Any]) -> list[_Change]:
        try:
            return list(self._read(node, self._options))
        except (KeyError, TypeError, ValueError) as error:
            if self._lenient:
                return []
            raise JobExecutionError(f"A {self._options.name} message cannot be read: {error}: {node!r:.300}") from error


def _debezium(node: dict[str, Any], options: FormatOptions) -> Iterator[_Change]:
    return debezium_changes(node["payload"] if options.boolean("schema-include") else node)


def debezium_changes(payload: dict[str, Any]) -> Iterator[_Change]:
    operation = payload["op"]
    if operation in ("c", "r"):
        yield _INSERT, payload["after"]
    elif operation == "u":
        if payload.get("before") is None:
            raise ValueError('"before" is missing: the table must have REPLICA IDENTITY FULL')
        yield _BEFORE, payload["before"]
        yield _AFTER, payload["after"]
    elif operation == "d":
        if payload.get("before") is None:
            raise ValueError('"before" is missing: the table must have REPLICA IDENTITY FULL')
        yield _DELETE, payload["before"]
    else:
        raise ValueError(f'"op" is {operation!r}')


def _canal(node: dict[str, Any], options: FormatOptions) -> Iterator[_Change]:
    import re

    for key in ("database", "table"):
        pattern = options.text(f"{key}.include")
        if pattern is not None and not re.fullmatch(pattern, str(node.get(key, ""))):
            return
    operation, rows = node["type"], node.get("data")
    if operation == "CREATE" or rows is None:
        return
    if operation not in ("INSERT", "UPDATE", "DELETE"):
        raise ValueError(f'"type" is {operation!r}')
    old = node.get("old") or [{}] * len(rows)
    for row, before in zip(rows, old, strict=True):
        if operation == "UPDATE":
            yield _BEFORE, {**row, **before}
            yield _AFTER, row
        else:
            yield (_INSERT if operation == "INSERT" else _DELETE), row


def _maxwell(node: dict[str, Any], options: FormatOptions) -> Iterator[_Change]:
    operation, row = node["type"], node["data"]
    if operation == "update":
        yield _BEFORE, {**row, **node["old"]}
        yield _AFTER, row
    elif operation in ("insert", "delete"):
        yield (_INSERT if operation == "insert" else _DELETE), row
    else:
        raise ValueError(f'"type" is {operation!r}')


def _ogg(node: dict[str, Any], options: FormatOptions) -> Iterator[_Change]:
    operation = node["op_type"].strip()
    if operation == "I":
        yield _INSERT, node["after"]
    elif operation in ("U", "D"):
        if node.get("before") is None:
            raise ValueError('"before" is missing: the table needs supplemental logging of all columns')
        yield (_BEFORE if operation == "U" else _DELETE), node["before"]
        if operation == "U":
            yield _AFTER, node["after"]
    else:
        raise ValueError(f'"op_type" is {operation!r}')


@dataclass(frozen=True)
class Envelope:
    """What stands before and behind a row that was added, and one that was taken back."""

    added: tuple[str, str]
    removed: tuple[str, str]


_DEBEZIUM = Envelope(('{"before":null,"after":', ',"op":"c"}'), ('{"before":', ',"after":null,"op":"d"}'))
_CANAL = Envelope(('{"data":[', '],"type":"INSERT"}'), ('{"data":[', '],"type":"DELETE"}'))
_OGG = Envelope(('{"before":null,"after":', ',"op_type":"I"}'), ('{"before":', ',"after":null,"op_type":"D"}'))
_MAXWELL = Envelope(('{"data":', ',"type":"insert"}'), ('{"data":', ',"type":"delete"}'))


class ChangeEncoder(Encoder):
    """Each row becomes an insertion or a deletion, as Flink writes them."""

    def __init__(self, fields: Fields, options: FormatOptions, envelope: Envelope) -> None:
        super().__init__(fields)
        options.checked(_PLAIN)
        plain = {key: value for key, value in options.values.items() if key in JSON_OPTIONS}
        self._json = JsonEncoder(fields, FormatOptions(options.name, options.table, plain, options.zone))
        self._envelope = envelope

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        return messages_of(joined_texts(self._messages(columns, kinds, rows)))

    def block(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> bytes | memoryview:
        return content_of(joined_texts([*self._messages(columns, kinds, rows), "\n"]))

    def _messages(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[pa.Array | str]:
        objects = self._json.objects(columns, rows)
        if kinds is None:
            before, behind = self._envelope.added
            return [before, *objects, behind]
        gone = pa.array(((kinds == _BEFORE) | (kinds == _DELETE)).astype(np.int8))
        ends = zip(self._envelope.added, self._envelope.removed, strict=True)
        first, last = (pa.array(pair, pa.string()).take(gone) for pair in ends)
        return [first, *objects, last]


class _DebeziumDecoder(ChangeDecoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _debezium)


class _CanalDecoder(ChangeDecoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _canal)


class _MaxwellDecoder(ChangeDecoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _maxwell)


class _OggDecoder(ChangeDecoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _ogg)


class _OggEncoder(ChangeEncoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _OGG)


class _DebeziumEncoder(ChangeEncoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _DEBEZIUM)


class _CanalEncoder(ChangeEncoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _CANAL)


class _MaxwellEncoder(ChangeEncoder):
    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields, options, _MAXWELL)


DEBEZIUM = TableFormat(_DebeziumDecoder, _DebeziumEncoder, "IUD")
CANAL = TableFormat(_CanalDecoder, _CanalEncoder, "IUD")
OGG = TableFormat(_OggDecoder, _OggEncoder, "IUD")
MAXWELL = TableFormat(_MaxwellDecoder, _MaxwellEncoder, "IUD")
