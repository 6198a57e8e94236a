"""Protobuf messages, by a class that protoc has generated for Python."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, RowType
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat
from penstock.table.logical.nodes import Fields

_OPTIONS = ("message-class-name", "ignore-parse-errors", "read-default-values", "write-null-string-literal")


class _MessageClass:
    """Picklable by its name, since classes of protoc need not be."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        options.checked(_OPTIONS)
        name = options.text("message-class-name")
        if not name:
            raise ProgramError(f"The format 'protobuf' of {options.table} needs 'protobuf.message-class-name'.")
        self.name = name
        self._table = options.table
        self._found: Any = None
        known = self.descriptor.fields_by_name
        missing = [field.name for field in fields if field.name not in known]
        if missing:
            raise ProgramError(f"The message {name} has no field {missing[0]!r}: it has {', '.join(known)}.")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": None}

    @property
    def found(self) -> Any:
        if self._found is None:
            module, _, name = self.name.rpartition(".")
            try:
                self._found = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError, ValueError) as error:
                raise ProgramError(
                    f"'protobuf.message-class-name' of {self._table} is {self.name!r}, which cannot be imported:"
                    f" {error}. It names a class that protoc has generated for Python, as 'shop.orders_pb2.Order'."
                ) from None
        return self._found

    @property
    def descriptor(self) -> Any:
        return self.found.DESCRIPTOR


class ProtobufDecoder(Decoder):
    """One row in each message. A field that is not set is null, or its default value where that is asked for."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        self._message = _MessageClass(fields, options)
        self._lenient = options.boolean("ignore-parse-errors")
        self._defaults = options.boolean("read-default-values")

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        rows, places = [], []
        for place, message in enumerate(messages):
            try:
                rows.append(self._message.found.FromString(message))
                places.append(place)
            except Exception as error:
                if not self._lenient:
                    raise JobExecutionError(f"A message is no {self._message.name}: {error}") from error
        columns = [
            from_plain([self._field(row, field.name, field.data_type) for row in rows], field.data_type)
            for field in self.fields
        ]
        return Decoded(columns, np.array(places, np.int64))

    def _field(self, message: Any, name: str, kind: DataType) -> Any:
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise JobExecutionError(f"The message {message.DESCRIPTOR.full_name} has no field {name!r}.")
        if not self._defaults and field.has_presence and not message.HasField(name):
            return None
        value = getattr(message, name)
        if isinstance(kind, MapType):
            parts = field.message_type.fields_by_name
            return {
                self._value(key, parts["key"], kind.key_type): self._value(item, parts["value"], kind.value_type)
                for key, item in value.items()
            }
        if isinstance(kind, ArrayType):
            return [self._value(item, field, kind.element_type) for item in value]
        return self._value(value, field, kind)

    def _value(self, value: Any, field: Any, kind: DataType) -> Any:
        if isinstance(kind, RowType):
            return tuple(self._field(value, one.name, one.data_type) for one in kind)
        if field.enum_type is not None and families.is_text(kind):
            named = field.enum_type.values_by_number.get(value)
            return None if named is None else named.name
        return value


class ProtobufEncoder(Encoder):
    """One message for each row. What is null is not set; in arrays and maps it is the default value of its type."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        self._message = _MessageClass(fields, options)
        self._null_text = options.text("write-null-string-literal", "") or ""

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        cells = [plain_values(column, field.data_type) for column, field in zip(columns, self.fields, strict=True)]
        found = []
        for row in zip(*cells, strict=True):
            message = self._message.found()
            self._fill(message, [(field.name, field.data_type) for field in self.fields], row)
            found.append(message.SerializeToString())
        return found

    def _fill(self, message: Any, fields: Sequence[tuple[str, DataType]], values: Sequence[Any]) -> None:
        for (name, kind), value in zip(fields, values, strict=True):
            if value is None:
                continue
            field = message.DESCRIPTOR.fields_by_name[name]
            if isinstance(kind, MapType):
                self._fill_map(getattr(message, name), field, kind, value)
            elif isinstance(kind, ArrayType):
                target, inner = getattr(message, name), kind.element_type
                for item in value:
                    if isinstance(inner, RowType):
                        self._fill_row(target.add(), inner, item)
                    else:
                        target.append(self._plain(item, field, inner))
            elif isinstance(kind, RowType):
                getattr(message, name).SetInParent()
                self._fill_row(getattr(message, name), kind, value)
            else:
                setattr(message, name, self._plain(value, field, kind))

    def _fill_map(self, target: Any, field: Any, kind: MapType, value: dict[Any, Any]) -> None:
        parts = field.message_type.fields_by_name
        for key, item in value.items():
            if isinstance(kind.value_type, RowType):
                self._fill_row(target[key], kind.value_type, item)
            else:
                target[self._plain(key, parts["key"], kind.key_type)] = self._plain(
                    item, parts["value"], kind.value_type
                )

    def _fill_row(self, message: Any, kind: RowType, value: Any) -> None:
        if value is not None:
            self._fill(message, [(one.name, one.data_type) for one in kind], value)

    def _plain(self, value: Any, field: Any, kind: DataType) -> Any:
        if value is None:
            return self._null_text if families.is_text(kind) else _ZEROS.get(field.cpp_type, 0)
        if field.enum_type is not None and families.is_text(kind):
            return field.enum_type.values_by_name[value].number
        return value


_ZEROS: dict[int, Any] = {5: 0.0, 6: 0.0, 7: False, 9: b""}  # by FieldDescriptor.CPPTYPE_*

FORMAT = TableFormat(ProtobufDecoder, ProtobufEncoder)
