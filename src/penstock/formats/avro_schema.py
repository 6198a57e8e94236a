"""Avro schemas, and what they mean as types of streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError, SetupError
from penstock.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TypeInformation, Types

__all__ = ["AvroSchema", "GenericRecordAvroTypeInfo", "fastavro", "row_type_of_avro"]

_PRIMITIVES: dict[str, Callable[[], TypeInformation]] = {
    "boolean": Types.BOOLEAN,
    "int": Types.INT,
    "long": Types.LONG,
    "float": Types.FLOAT,
    "double": Types.DOUBLE,
    "string": Types.STRING,
    "enum": Types.STRING,
    "bytes": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
}
_LOGICAL: dict[str, Callable[[], TypeInformation]] = {
    "date": Types.SQL_DATE,
    "time-millis": Types.SQL_TIME,
    "time-micros": Types.SQL_TIME,
    "timestamp-millis": Types.SQL_TIMESTAMP,
    "timestamp-micros": Types.SQL_TIMESTAMP,
    "decimal": Types.BIG_DEC,
}


def fastavro() -> Any:
    """The package that knows Avro's bytes."""
    try:
        import fastavro
        import fastavro.schema
    except ImportError as error:
        raise SetupError("Avro needs a package that is not installed: pip install 'penstock[avro]'") from error
    return fastavro


class AvroSchema:
    """A schema; make it with :meth:`parse_string` or :meth:`parse_file`."""

    def __init__(self, j_schema: Any) -> None:
        if not isinstance(j_schema, str):
            raise NotSupportedError(
                f"AvroSchema takes the schema as JSON text, not {j_schema!r}: use AvroSchema.parse_string(...)."
            )
        self._text = j_schema
        self.parsed()  # what is no schema shall fail where it is written down

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """The schema that is written as JSON."""
        return AvroSchema(json_schema)

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """The schema in a file (.avsc)."""
        return AvroSchema(Path(file_path).read_text(encoding="utf-8"))

    def parsed(self) -> Any:
        """As fastavro wants it."""
        package = fastavro()
        try:
            return package.parse_schema(json.loads(self._text))
        except (ValueError, KeyError, package.schema.SchemaParseException) as error:
            raise ProgramError(f"this is no Avro schema ({error}): {self._text:.200}") from error

    def __str__(self) -> str:
        return json.dumps(json.loads(self._text), separators=(",", ":"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AvroSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class GenericRecordAvroTypeInfo(PickledBytesTypeInfo):
    """Avro records as dictionaries, which no declared type changes."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema

    def __repr__(self) -> str:
        return "GenericRecordAvroTypeInfo"

    def _identity(self) -> tuple[Any, ...]:
        return (self._schema,)


def row_type_of_avro(schema: AvroSchema) -> RowTypeInfo:
    """The type of records of a schema as rows."""
    row_type = type_of_avro(schema.parsed(), {})
    if not isinstance(row_type, RowTypeInfo):
        raise ProgramError(f"rows need an Avro schema of a record, not {schema}")
    return row_type


def type_of_avro(schema: Any, named: dict[str, Any]) -> TypeInformation:
    if isinstance(schema, list):
        return type_of_avro(branch_of_union(schema), named)
    if isinstance(schema, str):
        return type_of_avro(named[schema], named) if schema in named else type_of_avro({"type": schema}, named)
    kind = schema["type"]
    if isinstance(kind, (dict, list)):
        return type_of_avro(kind, named)
    if "name" in schema:
        named[schema["name"]] = schema
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]()
    if kind in _PRIMITIVES:
        return _PRIMITIVES[kind]()
    if kind == "array":
        return Types.OBJECT_ARRAY(type_of_avro(schema["items"], named))
    if kind == "map":
        return Types.MAP(Types.STRING(), type_of_avro(schema["values"], named))
    if kind in ("record", "error"):
        fields = schema["fields"]
        return Types.ROW_NAMED([f["name"] for f in fields], [type_of_avro(f["type"], named) for f in fields])
    raise NotSupportedError(f"the Avro type {kind!r} has no type of a stream: read such records as generic records")


def branch_of_union(union: list[Any]) -> Any:
    """Rows know unions only as a type that may be null."""
    branches = [branch for branch in union if branch != "null"]
    if len(branches) != 1:
        raise NotSupportedError(
            f"the Avro union {union!r} is no type that may be null, for which rows have no form: read such records as"
            " generic records"
        )
    return branches[0]
