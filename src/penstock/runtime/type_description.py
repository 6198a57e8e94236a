"""Declared types as JSON: what was saved says how it was declared, also to a program that declares it in another way.

A type without parts is its name ("LONG"); one with parts is an object ({"type": "LIST", "element": "LONG"}).
"""

from __future__ import annotations

import json
from typing import Any

from penstock.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    _ElementsTypeInfo,
)

UNTYPED = "PICKLED"

_WITHOUT_PARTS: dict[type[TypeInformation], str] = {
    PickledBytesTypeInfo: UNTYPED,
    DateTypeInfo: "SQL_DATE",
    TimeTypeInfo: "SQL_TIME",
    TimestampTypeInfo: "SQL_TIMESTAMP",
}
_OF_ELEMENTS: dict[type[TypeInformation], str] = {
    ListTypeInfo: "LIST",
    PrimitiveArrayTypeInfo: "PRIMITIVE_ARRAY",
    BasicArrayTypeInfo: "BASIC_ARRAY",
    ObjectArrayTypeInfo: "OBJECT_ARRAY",
}
_BY_NAME: dict[str, TypeInformation] = {
    **{basic.name: BasicTypeInfo(basic) for basic in BasicType},
    **{time.name: LocalTimeTypeInfo(time) for time in LocalTimeTypeInfo.TimeType},
    **{name: kind() for kind, name in _WITHOUT_PARTS.items() if name != UNTYPED},
}


def describe_type(type_info: TypeInformation) -> Any:
    """The JSON value that stands for a type."""
    match type_info:
        case ExternalTypeInfo():
            return describe_type(type_info.type_info)
        case BasicTypeInfo():
            return type_info.basic_type.name
        case LocalTimeTypeInfo():
            return type_info._time_type.name
        case RowTypeInfo():
            fields = zip(type_info.get_field_names(), type_info.get_field_types(), strict=True)
            return {"type": "ROW", "fields": [[name, describe_type(field_type)] for name, field_type in fields]}
        case TupleTypeInfo():
            return {"type": "TUPLE", "fields": list(map(describe_type, type_info.get_field_types()))}
        case MapTypeInfo():
            key, value = describe_type(type_info.key_type), describe_type(type_info.value_type)
            return {"type": "MAP", "key": key, "value": value}
        case _ElementsTypeInfo():
            return {"type": _OF_ELEMENTS[type(type_info)], "element": describe_type(type_info.element_type)}
    return _WITHOUT_PARTS.get(type(type_info)) or {"type": "OTHER", "text": repr(type_info)}


def as_text(description: Any) -> str:
    """The description as it is stored; equal types have equal texts."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"))


def for_people(description: Any) -> str:
    """As one writes it down in an error message: ROW<name STRING, visits LONG>."""
    if isinstance(description, str):
        return description
    name = description["type"]
    match name:
        case "ROW":
            fields = ", ".join(f"{field} {for_people(part)}" for field, part in description["fields"])
            return f"ROW<{fields}>"
        case "TUPLE":
            return f"TUPLE<{', '.join(map(for_people, description['fields']))}>"
        case "MAP":
            return f"MAP<{for_people(description['key'])}, {for_people(description['value'])}>"
        case "OTHER":
            return str(description["text"])
    return f"{name}<{for_people(description['element'])}>"


def described_type(description: Any) -> TypeInformation | None:
    """The inverse of describe_type(); None for a type that has no description of its own."""
    if isinstance(description, str):
        return _BY_NAME.get(description)
    match description["type"]:
        case "ROW":
            names, parts = [name for name, _ in description["fields"]], [part for _, part in description["fields"]]
            types = _described_types(parts)
            return None if types is None else RowTypeInfo(types, names)
        case "TUPLE":
            types = _described_types(description["fields"])
            return None if types is None else TupleTypeInfo(types)
        case "MAP":
            key, value = described_type(description["key"]), described_type(description["value"])
            return None if key is None or value is None else MapTypeInfo(key, value)
        case "OTHER":
            return None
    element = described_type(description["element"])
    kind = next(kind for kind, name in _OF_ELEMENTS.items() if name == description["type"])
    return None if element is None else kind(element)  # type: ignore[call-arg]


def _described_types(descriptions: list[Any]) -> list[TypeInformation] | None:
    types = [described_type(description) for description in descriptions]
    known = [type_info for type_info in types if type_info is not None]
    return known if len(known) == len(types) else None
