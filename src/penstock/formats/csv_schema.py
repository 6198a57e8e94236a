"""The columns and characters of CSV files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types
from penstock.common.utils import refuse_java_object
from penstock.formats.csv_dialect import CsvDialect
from penstock.formats.row_types import type_info_of

__all__ = ["CsvSchema", "CsvSchemaBuilder"]


@dataclass(frozen=True)
class CsvColumn:
    name: str
    type_info: TypeInformation
    separator: str = ""
    scale: int | None = None


class CsvSchema:
    """The columns of CSV files, and how they are separated and quoted.

    >>> schema = CsvSchema.builder().add_number_column("id").add_string_column("name").build()
    >>> schema.size()
    2
    """

    def __init__(
        self,
        j_schema: Any = None,
        row_type: Any = None,
        *,
        columns: tuple[CsvColumn, ...] = (),
        dialect: CsvDialect | None = None,
        use_header: bool = False,
        strict_headers: bool = False,
        skip_first_data_row: bool = False,
    ) -> None:
        refuse_java_object("CsvSchema", "j_schema", j_schema, "Use CsvSchema.builder().")
        if row_type is not None:
            raise NotSupportedError("CsvSchema(row_type=...): add the columns with CsvSchema.builder() instead.")
        self._columns = columns
        self._dialect = dialect or CsvDialect()
        self._use_header = use_header
        self._strict_headers = strict_headers
        self._skip_first_data_row = skip_first_data_row

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        return CsvSchemaBuilder()

    def size(self) -> int:
        """The number of columns."""
        return len(self._columns)

    def _row_type(self) -> RowTypeInfo:
        return Types.ROW_NAMED(
            [column.name for column in self._columns], [column.type_info for column in self._columns]
        )

    def __str__(self) -> str:
        columns = ", ".join(f"{column.name}: {column.type_info!r}" for column in self._columns)
        return f"CsvSchema({columns})"


class CsvSchemaBuilder:
    """Builds a :class:`CsvSchema`: first the columns, in their order, then what differs from the usual characters."""

    def __init__(self) -> None:
        self._columns: list[CsvColumn] = []
        self._dialect = CsvDialect()
        self._array_separator = ";"
        self._flags: dict[str, bool] = {}

    def build(self) -> CsvSchema:
        columns = tuple(
            replace(column, separator=column.separator or self._array_separator) for column in self._columns
        )
        return CsvSchema(columns=columns, dialect=self._dialect, **self._flags)

    def add_array_column(self, name: str, separator: str = ";", element_type: Any = None) -> CsvSchemaBuilder:
        """A column of lists, whose elements (strings if nothing is said) are separated inside the field."""
        element = Types.STRING() if element_type is None else type_info_of(element_type)
        return self._add(CsvColumn(name, Types.OBJECT_ARRAY(element), separator, _scale(element_type)))

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """A column of true and false."""
        return self._add(CsvColumn(name, Types.BOOLEAN()))

    def add_number_column(self, name: str, number_type: Any = None) -> CsvSchemaBuilder:
        """A column of numbers; 64-bit whole numbers if nothing is said."""
        type_info = Types.LONG() if number_type is None else type_info_of(number_type)
        return self._add(CsvColumn(name, type_info, scale=_scale(number_type)))

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """A column of text."""
        return self._add(CsvColumn(name, Types.STRING()))

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """All columns of another schema."""
        for column in schema._columns:
            self._add(column)
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        self._columns.clear()
        return self

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Leaves out lines that begin with ``#``."""
        return self._change(allow_comments=allow)

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        raise NotSupportedError(
            "CsvSchemaBuilder.set_any_property_name: rows have fixed columns, so there is no place for others."
            " Add all columns of the file."
        )

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Lists of array columns without a separator of their own have at most one element."""
        self._array_separator = ""
        return self

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """The column at this position loses its own separator and takes that of all array columns."""
        self._columns[index] = replace(self._columns[index], separator="")
        return self

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """For array columns without a separator of their own."""
        self._array_separator = separator
        return self

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        return self._change(separator=one_character(char, "column separator"))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        return self._change(escape=None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        return self._change(escape=one_character(char, "escape character"))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        """For writing; reading takes line feeds, with or without a carriage return."""
        return self._change(line_end=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """The text that means None."""
        return self._change(null_literal=null_value)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        return self._change(quote=None)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        return self._change(quote=one_character(char, "quote character"))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Leaves out the first record of each file."""
        self._flags["skip_first_data_row"] = skip
        return self

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """The header of a file must have the names of the columns, in their order."""
        self._flags["strict_headers"] = strict
        return self

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """The first line of each file is a header; columns keep the order of this schema."""
        self._flags["use_header"] = use
        return self

    def size(self) -> int:
        """The number of columns so far."""
        return len(self._columns)

    def _add(self, column: CsvColumn) -> CsvSchemaBuilder:
        if any(other.name == column.name for other in self._columns):
            raise ProgramError(f"CsvSchema has a column {column.name!r} already; names must differ.")
        self._columns.append(column)
        return self

    def _change(self, **changes: Any) -> CsvSchemaBuilder:
        self._dialect = replace(self._dialect, **changes)
        return self


def one_character(text: Any, what: str) -> str:
    if not isinstance(text, str) or len(text) != 1:
        raise ValueError(f"The {what} of CSV is one character, not {text!r}.")
    return text


def _scale(data_type: Any) -> int | None:
    return data_type.scale if type(data_type).__name__ == "DecimalType" else None
