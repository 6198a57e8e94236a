"""JSON messages as rows."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from penstock.common.errors import ProgramError
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.formats.json_columns import JsonColumns
from penstock.formats.json_schema import row_type_of_schema
from penstock.formats.json_values import JsonRowReader, Writer, writer_of
from penstock.formats.row_types import row_type_info_of
from penstock.runtime.batch import Batch

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(DeserializationSchema):
    """Reads JSON objects as rows; fields that the type does not have are left out.

    Example::

        schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["id"], [Types.LONG()])).build()
        rows = messages.map(schema.deserialize, schema.get_produced_type())
    """

    def __init__(
        self,
        j_deserialization_schema: Any = None,
        *,
        type_info: RowTypeInfo | None = None,
        fail_on_missing_field: bool = False,
        ignore_parse_errors: bool = False,
    ) -> None:
        super().__init__(j_deserialization_schema)
        if type_info is None:
            raise ProgramError("JsonRowDeserializationSchema needs a type: builder().type_info(...).build().")
        if fail_on_missing_field and ignore_parse_errors:
            raise ProgramError(
                "JsonRowDeserializationSchema cannot both fail on missing fields and ignore parse errors:"
                " choose one of the two."
            )
        self._settings = (type_info, fail_on_missing_field, ignore_parse_errors)
        self._reader: JsonRowReader | None = JsonRowReader(*self._settings)
        self._columns: JsonColumns | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reader": None, "_columns": None}

    def deserialize(self, message: bytes | str) -> Row | None:
        """The row of a message; None for ``null``, and for what cannot be read if errors are to be ignored."""
        if self._reader is None:
            self._reader = JsonRowReader(*self._settings)
        try:
            text = message if isinstance(message, str) else message.decode("utf-8")
            node, _ = _DECODER.raw_decode(text.lstrip())
            return None if node is None else self._reader.read_row(node)
        except (ValueError, TypeError, ArithmeticError) as error:
            if self._settings[2]:
                return None
            raise ValueError(f"Failed to deserialize JSON {message!r:.200}: {error}.") from error

    def _deserialize_all(self, messages: list[bytes]) -> Batch | None:
        if self._columns is None:
            self._columns = JsonColumns(self._settings[0], self._settings[1])
        return self._columns.read(messages)

    def get_produced_type(self) -> TypeInformation:
        return self._settings[0]

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        return JsonRowDeserializationSchema.Builder()

    class Builder:
        """Settings of a :class:`JsonRowDeserializationSchema`."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            """The type of the rows, such as ``Types.ROW_NAMED(names, types)``."""
            self._type_info = row_type_info_of(type_info, "JsonRowDeserializationSchema")
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """The type of the rows as JSON Schema; numbers become ``Decimal``."""
            if json_schema is None:
                raise TypeError("The json_schema must not be None.")
            self._type_info = row_type_of_schema(json_schema)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """A field that is not there fails the job, instead of being None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """What cannot be read becomes None, instead of failing the job."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            return JsonRowDeserializationSchema(
                type_info=self._type_info,
                fail_on_missing_field=self._fail_on_missing_field,
                ignore_parse_errors=self._ignore_parse_errors,
            )


class JsonRowSerializationSchema(SerializationSchema):
    """Writes rows as JSON objects."""

    def __init__(self, j_serialization_schema: Any = None, type_info: RowTypeInfo | None = None) -> None:
        super().__init__(j_serialization_schema)
        if type_info is None:
            raise ProgramError("JsonRowSerializationSchema needs a type: builder().with_type_info(...).build().")
        self._type_info = type_info
        self._write: Writer | None = writer_of(type_info)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_write": None}

    def serialize(self, element: Any) -> bytes:
        if self._write is None:
            self._write = writer_of(self._type_info)
        try:
            return self._write(element).encode()
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"Could not serialize {element!r:.200} as JSON of {self._type_info!r}: {error}") from error

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        return JsonRowSerializationSchema.Builder()

    class Builder:
        """Settings of a :class:`JsonRowSerializationSchema`."""

        def __init__(self) -> None:
            self._type_info: RowTypeInfo | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            """The type of the rows, such as ``Types.ROW_NAMED(names, types)``."""
            self._type_info = row_type_info_of(type_info, "JsonRowSerializationSchema")
            return self

        def build(self) -> JsonRowSerializationSchema:
            return JsonRowSerializationSchema(None, self._type_info)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
