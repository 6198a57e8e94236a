"""The type of a Spark DataFrame's rows, read from its schema without importing pyspark."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types

__all__ = ["check_event_time_column", "row_type_of"]

_PLAIN_TYPES = {
    "string": Types.STRING,
    "boolean": Types.BOOLEAN,
    "byte": Types.BYTE,
    "short": Types.SHORT,
    "integer": Types.INT,
    "long": Types.LONG,
    "float": Types.FLOAT,
    "double": Types.DOUBLE,
    "date": Types.SQL_DATE,
}
_EVENT_TIME_TYPES = ("timestamp", "timestamp_ntz", "long")


def row_type_of(frame: Any) -> RowTypeInfo:
    """Named fields; what has no exact counterpart here (timestamps, decimals, variants) stays untyped."""
    fields = _fields_of(frame)
    names = [field["name"] for field in fields]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ProgramError(
            f"from_spark(): the DataFrame has several columns named {duplicates}; rename them with"
            " withColumnRenamed() or toDF(), because fields of a Row are found by name."
        )
    return Types.ROW_NAMED(names, [_type_of(field["type"]) for field in fields])


def check_event_time_column(frame: Any, column: str) -> None:
    types = {field["name"]: field["type"] for field in _fields_of(frame)}
    if column not in types:
        raise ProgramError(
            f"from_spark(): there is no column {column!r} to take event time from; the columns are {list(types)}"
        )
    if types[column] not in _EVENT_TIME_TYPES:
        raise ProgramError(
            f"from_spark(): event time is a timestamp or epoch milliseconds (long), but the column {column!r}"
            f" has the type {types[column]!r}; cast it."
        )


def _fields_of(frame: Any) -> list[dict[str, Any]]:
    schema: Any = getattr(frame, "schema", None)
    described = schema.jsonValue() if hasattr(schema, "jsonValue") else None
    if not isinstance(described, dict) or described.get("type") != "struct":
        raise ProgramError(f"from_spark() takes a Spark DataFrame, got {frame!r}")
    fields: list[dict[str, Any]] = described["fields"]
    return fields


def _type_of(described: Any) -> TypeInformation:
    if isinstance(described, str):
        factory = _PLAIN_TYPES.get(described)
        return Types.PICKLED_BYTE_ARRAY() if factory is None else factory()
    kind = described.get("type")
    if kind == "struct":
        fields = described["fields"]
        return Types.ROW_NAMED([f["name"] for f in fields], [_type_of(f["type"]) for f in fields])
    if kind == "array":
        return Types.LIST(_type_of(described["elementType"]))
    if kind == "map":
        return Types.MAP(_type_of(described["keyType"]), _type_of(described["valueType"]))
    return Types.PICKLED_BYTE_ARRAY()
