"""Protocol Buffers messages as rows, by the class that protoc has generated; types as in Flink's protobuf format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor  # type: ignore[import-untyped]

from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import BasicTypeInfo, RowTypeInfo, TypeInformation, Types
from penstock.common.types import Row
from penstock.formats.row_types import field_values
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch, Codec

__all__ = ["ProtobufRowDeserializationSchema", "ProtobufRowSerializationSchema"]

_SCALARS: dict[int, Callable[[], TypeInformation]] = {
    FieldDescriptor.CPPTYPE_INT32: Types.INT,
    FieldDescriptor.CPPTYPE_UINT32: Types.INT,
    FieldDescriptor.CPPTYPE_INT64: Types.LONG,
    FieldDescriptor.CPPTYPE_UINT64: Types.LONG,
    FieldDescriptor.CPPTYPE_FLOAT: Types.FLOAT,
    FieldDescriptor.CPPTYPE_DOUBLE: Types.DOUBLE,
    FieldDescriptor.CPPTYPE_BOOL: Types.BOOLEAN,
    FieldDescriptor.CPPTYPE_ENUM: Types.STRING,
}
_UNSIGNED_BITS = {FieldDescriptor.CPPTYPE_UINT32: 32, FieldDescriptor.CPPTYPE_UINT64: 64}


class _MessageType:
    """A message class that can be pickled: as the descriptions of its file and of those that it imports."""

    def __init__(self, message_class: Any) -> None:
        descriptor: Descriptor = message_class.DESCRIPTOR
        self.name = descriptor.full_name
        self._files = _with_dependencies(descriptor.file, {})
        self.new: Any = message_class

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "_files": self._files}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        pool = descriptor_pool.DescriptorPool()
        for content in self._files.values():
            pool.Add(descriptor_pb2.FileDescriptorProto.FromString(content))
        self.new = message_factory.GetMessageClass(pool.FindMessageTypeByName(self.name))

    @property
    def row_type(self) -> RowTypeInfo:
        return _row_type(self.new.DESCRIPTOR)


def _with_dependencies(file: FileDescriptor, found: dict[str, bytes]) -> dict[str, bytes]:
    """Each after those that it imports."""
    for each in file.dependencies:
        if each.name not in found:
            _with_dependencies(each, found)
    found[file.name] = file.serialized_pb
    return found


def _row_type(descriptor: Descriptor) -> RowTypeInfo:
    fields = descriptor.fields
    return Types.ROW_NAMED([field.name for field in fields], [_field_type(field) for field in fields])


def _field_type(field: FieldDescriptor) -> TypeInformation:
    if _is_map(field):
        key, value = field.message_type.fields
        return Types.MAP(_single_type(key), _single_type(value))
    single = _single_type(field)
    return Types.OBJECT_ARRAY(single) if field.is_repeated else single


def _single_type(field: FieldDescriptor) -> TypeInformation:
    if field.message_type is not None:
        return _row_type(field.message_type)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return Types.PRIMITIVE_ARRAY(Types.BYTE()) if field.type == FieldDescriptor.TYPE_BYTES else Types.STRING()
    return _SCALARS[field.cpp_type]()


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


class ProtobufRowDeserializationSchema(DeserializationSchema):
    """Reads messages as rows::

        from orders_pb2 import Order
        schema = ProtobufRowDeserializationSchema(Order)

    A field that knows whether it was set (a message, ``optional``) is None if it was not; others have their default, as
    in Flink. Enums are read as their names, unsigned numbers as Java's of the same bits.
    """

    def __init__(self, message_class: Any) -> None:
        super().__init__()
        self._type = _MessageType(message_class)
        self._reader: Callable[[Any], Row] | None = None
        self._codec: Codec | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reader": None, "_codec": None}

    def deserialize(self, message: bytes) -> Row:
        if self._reader is None:
            self._reader = _row_reader(self._type.new.DESCRIPTOR)
        return self._reader(self._type.new.FromString(message))

    def _deserialize_all(self, messages: list[bytes]) -> Batch | None:
        row_type = self._type.row_type
        if not all(isinstance(each, BasicTypeInfo) for each in row_type.get_field_types()) or not messages:
            return None
        if self._codec is None:
            self._codec = codec_for(row_type)
        assert self._codec is not None
        parsed = list(map(self._type.new.FromString, messages))
        readers = [_field_reader(field) for field in self._type.new.DESCRIPTOR.fields]
        schema = self._codec.schema
        columns = [pa.array(list(map(read, parsed)), schema.field(n).type) for n, read in enumerate(readers)]
        return Batch.of_columns(self._codec, pa.RecordBatch.from_arrays(columns, schema=schema))

    def get_produced_type(self) -> TypeInformation:
        return self._type.row_type


def _row_reader(descriptor: Descriptor) -> Callable[[Any], Row]:
    names = [field.name for field in descriptor.fields]
    readers = [_field_reader(field) for field in descriptor.fields]
    return lambda message: Row._of([read(message) for read in readers], names)


def _field_reader(field: FieldDescriptor) -> Callable[[Any], Any]:
    name = field.name
    if _is_map(field):
        value = _value_reader(field.message_type.fields_by_name["value"])
        return lambda message: {key: value(item) for key, item in getattr(message, name).items()}
    single = _value_reader(field)
    if field.is_repeated:
        return lambda message: [single(item) for item in getattr(message, name)]
    if field.has_presence:
        return lambda message: single(getattr(message, name)) if message.HasField(name) else None
    return lambda message: single(getattr(message, name))


def _value_reader(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.message_type is not None:
        return _row_reader(field.message_type)
    if field.enum_type is not None:
        names = {value.number: value.name for value in field.enum_type.values}
        return lambda number: names.get(number, str(number))
    bits = _UNSIGNED_BITS.get(field.cpp_type)
    if bits is not None:
        return lambda number: number - (1 << bits) if number >> (bits - 1) else number
    return lambda value: value


class ProtobufRowSerializationSchema(SerializationSchema):
    """Writes rows as messages of a class; a field that is None is not set."""

    def __init__(self, message_class: Any) -> None:
        super().__init__()
        self._type = _MessageType(message_class)

    def serialize(self, element: Any) -> bytes:
        message = self._type.new()
        try:
            _fill(message, element)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Could not serialize {element!r:.200} as {self._type.name}: {error}") from error
        content: bytes = message.SerializeToString()
        return content


def _fill(message: Any, row: Any) -> None:
    fields = message.DESCRIPTOR.fields
    for field, value in zip(fields, field_values(row, [field.name for field in fields]), strict=True):
        if value is None:
            continue
        if _is_map(field):
            _fill_map(getattr(message, field.name), field.message_type.fields_by_name["value"], value)
        elif field.is_repeated:
            _fill_list(getattr(message, field.name), field, value)
        elif field.message_type is not None:
            target = getattr(message, field.name)
            target.SetInParent()
            _fill(target, value)
        else:
            setattr(message, field.name, _written(field, value))


def _fill_map(target: Any, field: FieldDescriptor, items: dict[Any, Any]) -> None:
    for key, value in items.items():
        if field.message_type is None:
            target[key] = _written(field, value)
        else:
            _fill(target[key], value)


def _fill_list(target: Any, field: FieldDescriptor, items: list[Any]) -> None:
    for item in items:
        if field.message_type is None:
            target.append(_written(field, item))
        else:
            _fill(target.add(), item)


def _written(field: FieldDescriptor, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        named = field.enum_type.values_by_name.get(value)
        return int(value) if named is None else named.number
    bits = _UNSIGNED_BITS.get(field.cpp_type)
    return value + (1 << bits) if bits is not None and value < 0 else value
