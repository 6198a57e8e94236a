"""JSON messages, by Flink's options."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.kernels.equal_runs import by_runs
from penstock.columns.kernels.python_columns import from_python
from penstock.columns.kernels.text_buffers import text_bytes
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType
from penstock.common.errors import JobExecutionError
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat, every_message
from penstock.table.formats.text_columns import (
    content_of,
    from_texts,
    joined_texts,
    messages_of,
    number_texts,
    timestamp_texts,
    to_texts,
)
from penstock.table.logical.nodes import Field, Fields

OPTIONS = (
    "fail-on-missing-field", "ignore-parse-errors", "timestamp-format.standard", "map-null-key.mode",
    "map-null-key.literal", "encode.decimal-as-plain-number", "encode.ignore-null-fields", "decode.json-parser.enabled",
)  # fmt: skip
_ESCAPED = '"\\'  # in texts, and everything before the space
_FIRST_PLAIN = ord(" ")
_INTEGERS = (scalars.TinyIntType, scalars.SmallIntType, scalars.IntType, scalars.BigIntType)


class JsonDecoder(Decoder):
    """One object in each message; fields that the table does not have are left out."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        options.checked(OPTIONS)
        self._strict = options.boolean("fail-on-missing-field")
        self._lenient = options.boolean("ignore-parse-errors")
        self._iso = options.chosen("timestamp-format.standard", ("SQL", "ISO-8601"), "SQL") == "ISO-8601"
        self._zone = options.zone

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        found: list[dict[str, Any]] = []
        kept = []
        for place, message in enumerate(messages):
            node = self.parsed(message)
            if node is not None:
                found.append(node)
                kept.append(place)
        return Decoded(self.columns(found), every_message(len(messages))[kept])

    def parsed(self, message: bytes) -> dict[str, Any] | None:
        try:
            node = json.loads(message)
            if node is None or isinstance(node, dict):
                return node
            raise ValueError("it is no object")
        except ValueError as error:
            if self._lenient:
                return None
            raise JobExecutionError(f"A message is no JSON object: {error}: {message!r:.200}") from error

    def columns(self, nodes: Sequence[dict[str, Any]]) -> list[pa.Array]:
        return [self._column(nodes, field) for field in self.fields]

    def _column(self, nodes: Sequence[dict[str, Any]], field: Field) -> pa.Array:
        name = field.name
        if self._strict:
            for node in nodes:
                if name not in node:
                    raise JobExecutionError(f"The field {name!r} is missing in {node!r:.200}.")
        values = [node.get(name) for node in nodes]
        kind = field.data_type
        if isinstance(kind, scalars.DecimalType) or (families.is_moment(kind) and not families.is_integer(kind)):
            texts = [None if value is None else self._moment_text(str(value), kind) for value in values]
            return from_texts(pa.array(texts, pa.string()), field, self._zone, self._lenient)
        if kind.children():
            return from_plain([self._nested(value, kind) for value in values], kind)
        return self._scalars(values, field)

    def _scalars(self, values: list[Any], field: Field) -> pa.Array:
        convert = converter_of(field.data_type)
        found = []
        for value in values:
            try:
                found.append(None if value is None else convert(value))
            except (TypeError, ValueError) as error:
                if not self._lenient:
                    raise JobExecutionError(
                        f"Column {field.name!r} is {field.data_type.as_summary_string()}, but {value!r:.100} was read:"
                        f" {error}"
                    ) from error
                found.append(None)
        return from_python(found, field.data_type, f"Column {field.name!r}")

    def _nested(self, value: Any, kind: DataType) -> Any:
        """Plain values of what is inside arrays, maps and rows."""
        if value is None:
            return None
        if isinstance(kind, MultisetType):
            return {self._nested(key, kind.element_type): int(count) for key, count in value.items()}
        if isinstance(kind, ArrayType):
            return [self._nested(item, kind.element_type) for item in value]
        if isinstance(kind, MapType):
            return {self._nested(k, kind.key_type): self._nested(v, kind.value_type) for k, v in value.items()}
        if isinstance(kind, RowType):
            return tuple(self._nested(value.get(field.name), field.data_type) for field in kind)
        if isinstance(kind, scalars.DecimalType) or families.is_moment(kind):
            text = pa.array([self._moment_text(str(value), kind)])
            column = from_texts(text, Field("", kind), self._zone, self._lenient)
            return plain_values(column, kind)[0]
        return converter_of(kind)(value)

    def _moment_text(self, text: str, kind: DataType) -> str:
        if families.is_timestamp(kind):
            text = text.replace("T", " ") if self._iso else text
            return text.removesuffix("Z") if isinstance(kind, scalars.LocalZonedTimestampType) else text
        return text


def converter_of(kind: DataType) -> Callable[[Any], Any]:
    if isinstance(kind, _INTEGERS):
        return _whole
    if families.is_floating(kind):
        return float
    if families.is_boolean(kind):
        return _boolean
    if families.is_bytes(kind):
        return base64.b64decode
    return _text


def _whole(value: Any) -> int:
    if isinstance(value, float) and not value.is_integer():
        return int(value)
    return int(value)


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).strip().lower() == "true"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class JsonEncoder(Encoder):
    """One object for each row."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        options.checked(OPTIONS)
        self._iso = options.chosen("timestamp-format.standard", ("SQL", "ISO-8601"), "SQL") == "ISO-8601"
        self._skip_nulls = options.boolean("encode.ignore-null-fields")
        self._plain = options.boolean("encode.decimal-as-plain-number")
        self._zone = options.zone

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        return messages_of(joined_texts(self.objects(columns, rows)))

    def block(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> bytes | memoryview:
        return content_of(joined_texts([*self.objects(columns, rows), "\n"]))

    def objects(self, columns: Sequence[pa.Array], rows: int) -> list[pa.Array | str]:
        """What the object of each row is joined of, together with whatever is to stand around it."""
        if not columns:
            return [pa.array(["{}"] * rows)]
        named = [
            (_dumps(field.name), self._value(column, field)) for column, field in zip(columns, self.fields, strict=True)
        ]
        if self._skip_nulls:
            cells = [
                [None if text == "null" else f"{name}:{text}" for text in joined_texts(value).to_pylist()]
                for name, value in named
            ]
            found = ([cell for cell in row if cell is not None] for row in zip(*cells, strict=True))
            return [pa.array(["{" + ",".join(row) + "}" for row in found], pa.string())]
        parts: list[pa.Array | str] = []
        for name, value in named:
            parts += ["," if parts else "{", name, ":", *value]
        return [*parts, "}"]

    def _value(self, column: pa.Array, field: Field) -> list[pa.Array | str]:
        """What the value of each row is joined of."""
        kind = field.data_type
        if families.is_boolean(kind) or families.is_integer(kind):
            return [_filled(column.cast(pa.string()))]
        if isinstance(kind, scalars.DecimalType):
            return [_filled(number_texts(column, kind, self._plain))]
        if families.is_moment(kind) or (families.is_text(kind) and not _has_escaped(column)):
            texts = self._moments(column, kind) if families.is_moment(kind) else column
            quoted: list[pa.Array | str] = ['"', texts, '"']
            return [_filled(joined_texts(quoted))] if texts.null_count else quoted
        return [pa.array([_dumps(value) for value in self._values(column, kind)], pa.string())]

    def _moments(self, column: pa.Array, kind: DataType) -> pa.Array:
        if not families.is_timestamp(kind):
            return to_texts(column, kind, "UTC")
        texts = by_runs(column, lambda part: timestamp_texts(part, kind))
        return pc.replace_substring(texts, " ", "T") if self._iso else texts

    def _values(self, column: pa.Array, kind: DataType) -> list[Any]:
        if families.is_moment(kind):
            return list(self._moments(column, kind).to_pylist())
        if families.is_bytes(kind):
            return [None if raw is None else base64.b64encode(raw).decode() for raw in column.to_pylist()]
        if isinstance(kind, scalars.DecimalType):
            return [None if value is None else float(value) for value in column.to_pylist()]
        if isinstance(kind, scalars.FloatType):
            return from_shortest(column)
        if kind.children():
            return [self._shown(value, kind) for value in plain_values(column, kind)]
        return list(column.to_pylist())

    def _shown(self, value: Any, kind: DataType) -> Any:
        if value is None:
            return None
        if isinstance(kind, MultisetType):
            return {str(key): count for key, count in value.items()}
        if isinstance(kind, ArrayType):
            return [self._shown(item, kind.element_type) for item in value]
        if isinstance(kind, MapType):
            return {str(self._shown(k, kind.key_type)): self._shown(v, kind.value_type) for k, v in value.items()}
        if isinstance(kind, RowType):
            return {field.name: self._shown(item, field.data_type) for field, item in zip(kind, value, strict=True)}
        return self._values(from_plain([value], kind), kind)[0]


def _filled(texts: pa.Array) -> pa.Array:
    return texts.fill_null("null") if texts.null_count else texts


def _has_escaped(texts: pa.Array) -> bool:
    """Whether some text has a quote, a backslash or a control character: one look at the bytes of all."""
    ends, content = text_bytes(texts)
    content = content[ends[0] : ends[-1]]
    return bool((content < _FIRST_PLAIN).any() or any((content == ord(each)).any() for each in _ESCAPED))


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def from_shortest(column: pa.Array) -> list[Any]:
    """32-bit floats with the digits that people write."""
    import numpy as np

    return [None if value is None else float(str(np.float32(value))) for value in column.to_pylist()]


FORMAT = TableFormat(JsonDecoder, JsonEncoder)
