"""What catalogs hold: databases, tables, views, functions, partitions and models."""

from __future__ import annotations

import copy
import importlib
from dataclasses import replace
from typing import Any, Self

from penstock.common.configuration import Configuration
from penstock.common.errors import ProgramError
from penstock.table.schema import Schema
from penstock.table.sql import statements as st
from penstock.table.syntax.queries import Query
from penstock.table.table_schema import TableSchema


class _Described:
    """Properties and a comment."""

    def __init__(self, properties: dict[str, str] | None = None, comment: str | None = None) -> None:
        self._properties = dict(properties or {})
        self._comment = comment

    def get_properties(self) -> dict[str, str]:
        return dict(self._properties)

    def get_comment(self) -> str | None:
        return self._comment

    def get_description(self) -> str | None:
        return self._comment

    def get_detailed_description(self) -> str | None:
        return self._comment

    def copy(self) -> Self:
        return copy.deepcopy(self)


class CatalogDatabase(_Described):
    """A database: a name space for tables and functions."""

    def __init__(
        self,
        j_catalog_database: Any = None,
        *,
        properties: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        super().__init__(properties, comment)

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogDatabase:
        return CatalogDatabase(properties=properties, comment=comment)


class CatalogPartition(_Described):
    """A partition of a table."""

    def __init__(
        self,
        j_catalog_partition: Any = None,
        *,
        properties: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        super().__init__(properties, comment)

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogPartition:
        return CatalogPartition(properties=properties, comment=comment)


class CatalogBaseTable:
    """A table or a view, as it was declared."""

    def __init__(
        self,
        j_catalog_base_table: Any = None,
        *,
        body: st.TableBody | None = None,
        view: CatalogView | None = None,
        handle: Any = None,
    ) -> None:
        if body is None:
            raise ProgramError("Make tables with CatalogBaseTable.create_table() or create_view().")
        self._body = body
        self._view = view
        self._handle = handle  # of tables that exist only in this program

    @staticmethod
    def create_table(
        schema: TableSchema,
        partition_keys: list[str] = [],  # noqa: B006 (PyFlink's signature)
        properties: dict[str, str] = {},  # noqa: B006
        comment: str | None = None,
    ) -> CatalogBaseTable:
        body = replace(
            _body_of(schema), comment=comment, partitioned_by=tuple(partition_keys), options=tuple(properties.items())
        )
        return CatalogBaseTable(body=body)

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: TableSchema,
        properties: dict[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        body = replace(_body_of(schema), comment=comment, options=tuple(properties.items()))
        return CatalogBaseTable(body=body, view=CatalogView(expanded_query))

    def get_options(self) -> dict[str, str]:
        return dict(self._body.options)

    def get_unresolved_schema(self) -> Schema:
        body = self._body
        return Schema(body=st.TableBody(body.columns, (), body.watermark, body.primary_key))

    def get_comment(self) -> str:
        return self._body.comment or ""

    def copy(self) -> CatalogBaseTable:
        return CatalogBaseTable(body=self._body, view=self._view, handle=self._handle)

    def get_description(self) -> str | None:
        return self._body.comment

    def get_detailed_description(self) -> str | None:
        return self._body.comment


class CatalogView:
    """The query of a view, with the place from which its names are looked up, or the plan of a Table."""

    def __init__(
        self,
        text: str,
        query: Query | None = None,
        columns: tuple[str, ...] = (),
        place: tuple[str, str] | None = None,
        relation: Any = None,
    ) -> None:
        self.text = text
        self.query = query
        self.columns = columns
        self.place = place
        self.relation = relation


def _body_of(schema: TableSchema) -> st.TableBody:
    pairs = zip(schema.get_field_names(), schema.get_field_data_types(), strict=True)
    return st.TableBody(tuple(st.Column(name, data_type) for name, data_type in pairs))


class CatalogFunction:
    """A function by the name of its implementation."""

    def __init__(
        self, j_catalog_function: Any = None, *, class_name: str = "", language: str = "Python", function: Any = None
    ) -> None:
        self._class_name = class_name
        self._language = language
        self._function = function  # of functions that exist only in this program

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        return CatalogFunction(class_name=class_name, language=function_language)

    def get_class_name(self) -> str:
        return self._class_name

    def _python(self) -> Any:
        """The function itself; one that is known by name is imported."""
        if self._function is None:
            module, _, name = self._class_name.rpartition(".")
            if not module:
                raise ProgramError(f"{self._class_name!r} is no Python function: write 'module.function'.")
            try:
                self._function = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError) as error:
                raise ProgramError(f"The Python function {self._class_name!r} cannot be loaded: {error}") from error
        return self._function

    def copy(self) -> CatalogFunction:
        return copy.copy(self)

    def get_description(self) -> str | None:
        return f"{self._language} function {self._class_name}"

    def get_detailed_description(self) -> str | None:
        return self.get_description()

    def get_function_language(self) -> str:
        return self._language.upper()

    def get_options(self) -> dict[str, str]:
        return {}


class CatalogModel(_Described):
    """A model by its schemas and options."""

    def __init__(
        self,
        j_catalog_model: Any = None,
        *,
        schemas: Any = None,
        options: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        super().__init__(options, comment)
        self._schemas = schemas

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: dict[str, str] = {},  # noqa: B006 (PyFlink's signature)
        comment: str | None = None,
    ) -> CatalogModel:
        return CatalogModel(schemas=(input_schema, output_schema), options=options, comment=comment)

    def get_options(self) -> dict[str, str]:
        return self.get_properties()


class Procedure:
    """A procedure of a catalog."""

    def __init__(self, j_procedure: Any = None) -> None:
        self._procedure = j_procedure


class CatalogPartitionSpec:
    """Which partition: values of partition columns."""

    def __init__(self, partition_spec: dict[str, str]) -> None:
        self._spec = dict(partition_spec)

    def get_partition_spec(self) -> dict[str, str]:
        return dict(self._spec)

    def __str__(self) -> str:
        return f"CatalogPartitionSpec{{{self._spec}}}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CatalogPartitionSpec) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash(frozenset(self._spec.items()))


class CatalogTableStatistics:
    """Sizes of a table."""

    def __init__(
        self,
        row_count: int | None = None,
        field_count: int | None = None,
        total_size: int | None = None,
        raw_data_size: int | None = None,
        properties: dict[str, str] | None = None,
        j_catalog_table_statistics: Any = None,
    ) -> None:
        self._sizes = (row_count, field_count, total_size, raw_data_size)
        self._properties = dict(properties or {})

    def get_row_count(self) -> int | None:
        return self._sizes[0]

    def get_field_count(self) -> int | None:
        return self._sizes[1]

    def get_total_size(self) -> int | None:
        return self._sizes[2]

    def get_raw_data_size(self) -> int | None:
        return self._sizes[3]

    def get_properties(self) -> dict[str, str]:
        return dict(self._properties)

    def copy(self) -> CatalogTableStatistics:
        return CatalogTableStatistics(*self._sizes, self._properties)


class CatalogColumnStatistics:
    """What is known about the values of columns."""

    def __init__(
        self,
        column_statistics_data: dict[str, Any] | None = None,
        properties: dict[str, str] | None = None,
        j_catalog_column_statistics: Any = None,
    ) -> None:
        self._data = dict(column_statistics_data or {})
        self._properties = dict(properties or {})

    def get_column_statistics_data(self) -> dict[str, Any]:
        return dict(self._data)

    def get_properties(self) -> dict[str, str]:
        return dict(self._properties)

    def copy(self) -> CatalogColumnStatistics:
        return CatalogColumnStatistics(self._data, self._properties)


class CatalogDescriptor:
    """How a catalog is made: the options of CREATE CATALOG."""

    def __init__(
        self,
        j_catalog_descriptor: Any = None,
        *,
        name: str = "",
        configuration: Configuration | None = None,
        comment: str | None = None,
    ) -> None:
        self.name = name
        self.configuration = configuration or Configuration()
        self.comment = comment

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None) -> CatalogDescriptor:
        return CatalogDescriptor(name=catalog_name, configuration=configuration, comment=comment)
