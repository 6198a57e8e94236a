"""JSON Schema as row type, as far as Flink understands it."""

from __future__ import annotations

import json
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types

_FORMATS = {"date-time": Types.SQL_TIMESTAMP, "date": Types.SQL_DATE, "time": Types.SQL_TIME}


def row_type_of_schema(json_schema: str) -> RowTypeInfo:
    """The row type of a JSON Schema whose root is an object."""
    type_info = _type_of(json.loads(json_schema), "the root")
    if not isinstance(type_info, RowTypeInfo):
        raise ProgramError("The root of a JSON schema for rows must have the type 'object'.")
    return type_info


def _type_of(node: Any, place: str) -> TypeInformation:
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "object" and isinstance(node.get("properties"), dict):
        properties = node["properties"]
        return Types.ROW_NAMED(
            list(properties), [_type_of(inner, f"{place}.{name}") for name, inner in properties.items()]
        )
    if kind == "array" and isinstance(node.get("items"), dict):
        return Types.OBJECT_ARRAY(_type_of(node["items"], f"{place}[]"))
    if kind in ("integer", "number"):
        return Types.BIG_DEC()
    if kind == "boolean":
        return Types.BOOLEAN()
    if kind == "string":
        if node.get("contentEncoding") == "base64":
            return Types.PRIMITIVE_ARRAY(Types.BYTE())
        return _FORMATS.get(node.get("format"), Types.STRING)()
    raise NotSupportedError(
        f"The JSON schema has something at {place} that is not supported: {node!r:.200}."
        " Declare the rows with type_info(Types.ROW_NAMED(...)) instead."
    )
