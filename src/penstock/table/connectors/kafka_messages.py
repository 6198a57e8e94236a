"""Messages of Kafka as rows and back: which columns are in the key, in the value, and what Kafka itself knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import from_plain
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.serialization import SerializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.kafka.records import KafkaRecordDeserializationSchema
from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema, Messages
from penstock.formats.decoding import Decoded
from penstock.functions.sink import Records
from penstock.runtime.batch import Batch
from penstock.runtime.table.codec import TableCodec, with_kinds
from penstock.runtime.table.row_type import TableRowType
from penstock.table.connectors.base import ConnectorTable
from penstock.table.formats.base import FormatOptions, TableFormat
from penstock.table.formats.registry import format_of
from penstock.table.logical.nodes import Field, Fields
from penstock.table.sql.errors import suggestion

_DELETES = (1, 3)  # -U and -D
_AFTER, _DELETE = 2, 3


@dataclass(frozen=True)
class Layout:
    """Where columns are: positions in the table of those in the key and in the value, and metadata by position."""

    key: tuple[int, ...]
    value: tuple[int, ...]
    metadata: tuple[tuple[int, str], ...]
    fields: Fields
    key_format: tuple[TableFormat, FormatOptions] | None
    value_format: tuple[TableFormat, FormatOptions]
    prefix: str = ""  # of the key's columns, which their fields do not have
    upserts: bool = False

    def key_fields(self) -> Fields:
        named = [self.fields[place] for place in self.key]
        return tuple(Field(one.name.removeprefix(self.prefix), one.data_type) for one in named)

    def value_fields(self) -> Fields:
        return tuple(self.fields[place] for place in self.value)


def layout_of(table: ConnectorTable, value_key: str, upserts: bool) -> Layout:
    names = [field.name for field in table.fields]
    keys = dict(table.metadata)
    physical = [place for place, name in enumerate(names) if name not in keys]
    key_names = list(table.primary_key) if upserts else _listed(table.options.get("key.fields", ""))
    prefix = table.options.get("key.fields-prefix", "")
    for name in key_names:
        if name not in names:
            raise ProgramError(f"'key.fields' of {table.name}: there is no column {name!r}.{suggestion(name, names)}")
        if not name.startswith(prefix):
            raise ProgramError(f"'key.fields' of {table.name}: {name!r} does not begin with the prefix {prefix!r}.")
    if key_names and "key.format" not in table.options:
        raise ProgramError(f"The table {table.name} has key columns, and so needs 'key.format'.")
    key = tuple(names.index(name) for name in key_names)
    without_key = table.chosen("value.fields-include", ("all", "except_key"), "all") == "except_key"
    value = tuple(place for place in physical if not (without_key and place in key))
    metadata = tuple((names.index(column), of) for column, of in table.metadata)
    key_format = format_of(table, "key.format") if key else None
    return Layout(key, value, metadata, table.fields, key_format, format_of(table, value_key), prefix, upserts)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(";") if name.strip()]


class TableOfMessages(KafkaRecordDeserializationSchema):
    """Makes batches of a table's columns."""

    def __init__(self, row_type: TableRowType, layout: Layout) -> None:
        super().__init__()
        self._row_type, self._layout = row_type, layout
        self._value = layout.value_format[0].decoder_of(layout.value_fields(), layout.value_format[1])
        self._key = None
        if layout.key_format is not None:
            self._key = layout.key_format[0].decoder_of(layout.key_fields(), layout.key_format[1])
        self._wants_messages = self._key is not None or bool(layout.metadata)

    def get_produced_type(self) -> TypeInformation:
        return self._row_type

    def _parts(self, messages: list[Any]) -> list[Any]:
        """Values alone, if nothing else is in the table."""
        return messages if self._wants_messages else list(map(type(messages[0]).value, messages))

    def _decode(self, parts: list[Any]) -> Decoded:
        layout = self._layout
        values = [message.value() for message in parts] if self._wants_messages else parts
        present = [place for place, value in enumerate(values) if value is not None]
        found = self._value.decode([values[place] for place in present])
        rows = np.array(present, np.int64)[found.messages] if len(found.messages) else np.empty(0, np.int64)
        columns: list[Any] = [None] * len(self._row_type)
        for place, column in zip(layout.value, found.columns, strict=True):
            columns[place] = column
        kinds = found.kinds
        if layout.upserts:
            rows, columns, kinds = self._with_deletions(values, rows, columns)
        if self._key is not None:
            keys = self._key.decode([parts[row].key() or b"" for row in rows.tolist()])
            for place, column in zip(layout.key, keys.columns, strict=True):
                columns[place] = column
        for place, key in layout.metadata:
            columns[place] = _metadata([parts[row] for row in rows.tolist()], key, layout.fields[place])
        batch = TableCodec(self._row_type).batch(columns, kinds, len(rows))
        whole = np.array_equal(rows, np.arange(len(parts)))
        return Decoded(batch, None if whole else rows.tolist())

    def _with_deletions(self, values: list[Any], rows: Any, columns: list[Any]) -> Any:
        """A message without value deletes its key: a row in which only the key is known."""
        gone = np.array([place for place, value in enumerate(values) if value is None], np.int64)
        order = np.argsort(np.concatenate([rows, gone]), kind="stable")
        every = np.concatenate([rows, gone])[order]
        kinds = np.where(order < len(rows), _AFTER, _DELETE).astype(np.int8)
        taken = pa.array(np.where(order < len(rows), order, -1))
        present = pc.if_else(pc.greater_equal(taken, 0), taken, pa.scalar(None, pa.int64()))
        return every, [None if column is None else column.take(present) for column in columns], kinds


def _metadata(messages: list[Any], key: str, field: Field) -> pa.Array:
    match key:
        case "topic":
            values: list[Any] = [message.topic() for message in messages]
        case "partition":
            values = [message.partition() for message in messages]
        case "offset":
            values = [message.offset() for message in messages]
        case "timestamp":
            values = [message.timestamp()[1] for message in messages]
        case "timestamp-type":
            names = {0: "NoTimestampType", 1: "CreateTime", 2: "LogAppendTime"}
            values = [names[message.timestamp()[0]] for message in messages]
        case _:
            values = [dict(message.headers() or ()) for message in messages]
    return from_plain(values, field.data_type)


class _Bytes(SerializationSchema):
    """Stands for the values, which are made of columns."""


class MessagesOfTable(KafkaRecordSerializationSchema):
    """Makes messages of a table's columns."""

    def __init__(self, topic: str, row_type: TableRowType, layout: Layout) -> None:
        super().__init__(topic=topic, value=_Bytes())
        self._row_type, self._layout = row_type, layout
        self._encoder = layout.value_format[0].encoder_of(layout.value_fields(), layout.value_format[1])
        self._key_encoder = None
        if layout.key_format is not None:
            self._key_encoder = layout.key_format[0].encoder_of(layout.key_fields(), layout.key_format[1])
        refused = [key for _, key in layout.metadata if key != "timestamp"]
        if refused:
            raise NotSupportedError(f"The metadata {refused[0]!r} cannot be written: declare the column as VIRTUAL.")

    def messages(self, records: Records) -> Messages:
        assert isinstance(records, Batch)
        codec, layout = TableCodec(self._row_type), self._layout
        batch = records.in_columns(codec)
        kinds = with_kinds(batch)
        if layout.upserts:
            batch = batch.filter(kinds != 1)  # the update that follows replaces the row
            kinds = with_kinds(batch)
        arrays = codec.arrays(batch)
        values: list[Any] = self._encoder.encode(_chosen(arrays, layout.value), batch.kinds, len(batch))
        if layout.upserts:
            values = [None if kind in _DELETES else value for value, kind in zip(values, kinds.tolist(), strict=True)]
        keys = None
        if self._key_encoder is not None:
            keys = self._key_encoder.encode(_chosen(arrays, layout.key), None, len(batch))
        assert self._topic is not None
        return Messages(self._topic, values, keys, self._times(arrays), None, None)

    def _times(self, arrays: Sequence[pa.Array]) -> list[int] | None:
        for place, key in self._layout.metadata:
            if key == "timestamp":
                millis = arrays[place].cast(pa.timestamp("ms"), safe=False).cast(pa.int64()).fill_null(0)
                return [max(0, value) for value in millis.to_pylist()]
        return None


def _chosen(arrays: Sequence[pa.Array], places: tuple[int, ...]) -> list[pa.Array]:
    return [arrays[place] for place in places]
