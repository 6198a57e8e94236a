"""Classes as protoc would generate them, for `protobuf.message-class-name`."""

from __future__ import annotations

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto


def _field(name: str, number: int, kind: int, **more: object) -> descriptor_pb2.FieldDescriptorProto:
    return _FIELD(name=name, number=number, type=kind, **{"label": _FIELD.LABEL_OPTIONAL, **more})  # type: ignore[arg-type]


def _file(syntax: str) -> descriptor_pb2.FileDescriptorProto:
    package = f"shop.{syntax}"
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax=syntax)
    kinds = file.enum_type.add(name="Kind")
    for number, name in enumerate(["ANY", "TEA", "NUT"]):
        kinds.value.add(name=name, number=number)
    part = file.message_type.add(name="Part")
    part.field.append(_field("name", 1, _FIELD.TYPE_STRING))
    part.field.append(_field("pieces", 2, _FIELD.TYPE_INT32))
    order = file.message_type.add(name="Order")
    repeated = {"label": _FIELD.LABEL_REPEATED}
    order.field.append(_field("id", 1, _FIELD.TYPE_INT64))
    order.field.append(_field("price", 2, _FIELD.TYPE_DOUBLE))
    order.field.append(_field("kind", 3, _FIELD.TYPE_ENUM, type_name=f".{package}.Kind"))
    order.field.append(_field("first", 4, _FIELD.TYPE_MESSAGE, type_name=f".{package}.Part"))
    order.field.append(_field("parts", 5, _FIELD.TYPE_MESSAGE, type_name=f".{package}.Part", **repeated))
    order.field.append(_field("tags", 6, _FIELD.TYPE_STRING, **repeated))
    order.field.append(_field("counts", 7, _FIELD.TYPE_MESSAGE, type_name=f".{package}.Order.CountsEntry", **repeated))
    entry = order.nested_type.add(name="CountsEntry", options=descriptor_pb2.MessageOptions(map_entry=True))
    entry.field.append(_field("key", 1, _FIELD.TYPE_STRING))
    entry.field.append(_field("value", 2, _FIELD.TYPE_INT64))
    return file


def _order(syntax: str) -> type:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file(syntax))  # type: ignore[no-untyped-call]
    found: type = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shop.{syntax}.Order"))
    return found


Order, OldOrder = _order("proto3"), _order("proto2")
