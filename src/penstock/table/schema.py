"""Schema: the columns, watermark and key of a table, as a program declares them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowType
from penstock.columns.typesystem.type_text import parse_type
from penstock.common.errors import ProgramError
from penstock.table.catalog.resolved_schema import ResolvedSchema
from penstock.table.expression import Expression
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_expression
from penstock.table.syntax.expressions import Expr

__all__ = ["Schema"]


class Schema:
    """Made with a builder::

    Schema.new_builder().column("id", DataTypes.BIGINT()).column("ts", "TIMESTAMP(3)")
    .watermark("ts", "ts - INTERVAL '5' SECOND").primary_key("id").build()
    """

    def __init__(self, j_schema: Any = None, *, body: st.TableBody | None = None) -> None:
        if body is None:
            raise ProgramError("Make a Schema with Schema.new_builder().")
        self._body = body

    @staticmethod
    def new_builder() -> Schema.Builder:
        return Schema.Builder()

    def __str__(self) -> str:
        parts = [_column_text(column) for column in self._body.columns]
        if self._body.watermark is not None:
            parts.append(f"WATERMARK FOR `{self._body.watermark.column[0]}` AS [{self._body.watermark.text}]")
        if self._body.primary_key is not None:
            key = self._body.primary_key
            columns = ", ".join(f"`{name}`" for name in key.columns)
            parts.append(f"CONSTRAINT `{key.name}` PRIMARY KEY ({columns}) NOT ENFORCED")
        return "(\n{}\n)".format(",\n".join(f"  {part}" for part in parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._body == other._body

    def __hash__(self) -> int:
        return hash(self._body)

    class Builder:
        """Collects the parts of a schema."""

        def __init__(self, j_builder: Any = None) -> None:
            self._body = st.TableBody()

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            given = unresolved_schema._body
            self._add(*given.columns)
            self._body = replace(
                self._body,
                watermark=given.watermark or self._body.watermark,
                primary_key=given.primary_key or self._body.primary_key,
            )
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            names, types = resolved_schema.get_column_names(), resolved_schema.get_column_data_types()
            key = resolved_schema.get_primary_key()
            if key is not None:
                self.primary_key_named(key.get_name(), *key.get_columns())
            return self.from_fields(names, types)

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            if not isinstance(data_type, RowType):
                raise ProgramError(f"from_row_data_type() takes a row type, not {data_type!r}.")
            return self.from_fields(data_type.field_names(), data_type.field_types())

        def from_fields(self, field_names: list[str], field_data_types: list[DataType]) -> Schema.Builder:
            for name, data_type in zip(field_names, field_data_types, strict=True):
                self.column(name, data_type)
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            return self._add(st.Column(column_name, _type(data_type)))

        def column_by_expression(self, column_name: str, expr: str | Expression[Any]) -> Schema.Builder:
            return self._add(st.ComputedColumn(column_name, *_expression(expr)))

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            return self._add(st.MetadataColumn(column_name, _type(data_type), metadata_key, is_virtual))

        def watermark(self, column_name: str, watermark_expr: str | Expression[Any]) -> Schema.Builder:
            watermark = st.Watermark((column_name,), *_expression(watermark_expr))
            self._body = replace(self._body, watermark=watermark)
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            return self.primary_key_named("_".join(["PK", *column_names]), *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            if not column_names:
                raise ProgramError("A primary key needs at least one column.")
            self._body = replace(self._body, primary_key=st.PrimaryKey(column_names, constraint_name))
            return self

        def build(self) -> Schema:
            return Schema(body=self._body)

        def _add(self, *columns: st.AnyColumn) -> Schema.Builder:
            self._body = replace(self._body, columns=(*self._body.columns, *columns))
            return self


def _type(given: str | DataType) -> DataType:
    if isinstance(given, str):
        return parse_type(given)
    if isinstance(given, DataType):
        return given
    raise ProgramError(f"The type of a column is a DataType or its text, not {given!r}.")


def _expression(given: str | Expression[Any]) -> tuple[Expr, str]:
    if isinstance(given, str):
        return parse_expression(given), given
    return given._node, str(given)


def _column_text(column: st.AnyColumn) -> str:
    match column:
        case st.Column(name, data_type):
            return f"`{name}` {data_type.as_summary_string()}"
        case st.ComputedColumn(name, _, text):
            return f"`{name}` AS [{text}]"
        case st.MetadataColumn(name, data_type, key, virtual):
            source = f" FROM '{key}'" if key is not None else ""
            return f"`{name}` METADATA{source}{' VIRTUAL' if virtual else ''}"
    raise AssertionError(column)
