"""Schemas whose types are known: columns, watermarks and keys."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowField, RowType
from penstock.table.catalog.columns import Column
from penstock.table.resolved_expression import ResolvedExpression


class WatermarkSpec:
    """Which column is the event time, and how watermarks follow from it."""

    def __init__(
        self, j_watermark_spec: Any = None, *, column: str = "", expression: ResolvedExpression | None = None
    ) -> None:
        self._column = column
        self._expression = expression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression) -> WatermarkSpec:
        return WatermarkSpec(column=rowtime_attribute, expression=watermark_expression)

    def get_rowtime_attribute(self) -> str:
        return self._column

    def get_watermark_expression(self) -> ResolvedExpression:
        assert self._expression is not None
        return self._expression

    def as_summary_string(self) -> str:
        expression = self.get_watermark_expression()
        kind = expression.get_output_data_type().as_summary_string()
        return f"WATERMARK FOR `{self._column}`: {kind} AS {expression.as_summary_string()}"

    def __str__(self) -> str:
        return self.as_summary_string()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WatermarkSpec) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(self._column)


class Constraint:
    """What a table promises about its rows."""

    class ConstraintType(Enum):
        """The kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    def __init__(self, j_constraint: Any = None, *, name: str = "") -> None:
        self._name = name

    def get_name(self) -> str:
        return self._name

    def is_enforced(self) -> bool:
        """Never: Flink has no data of its own to check."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        return Constraint.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        return f"CONSTRAINT `{self._name}`"

    def __str__(self) -> str:
        return self.as_summary_string()


class UniqueConstraint(Constraint):
    """A primary key."""

    def __init__(self, j_unique_constraint: Any = None, *, name: str = "", columns: list[str] | None = None) -> None:
        super().__init__(name=name)
        self._columns = list(columns or [])

    @staticmethod
    def primary_key(name: str, columns: list[str]) -> UniqueConstraint:
        return UniqueConstraint(name=name, columns=columns)

    def get_columns(self) -> list[str]:
        return list(self._columns)

    def get_type_string(self) -> str:
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        columns = ", ".join(f"`{column}`" for column in self._columns)
        return f"CONSTRAINT `{self._name}` PRIMARY KEY ({columns}) NOT ENFORCED"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniqueConstraint) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._name, tuple(self._columns)))


class ResolvedSchema:
    """The columns of a table with their types, its watermark and its primary key."""

    def __init__(
        self,
        columns: list[Column] | None = None,
        watermark_specs: list[WatermarkSpec] | None = None,
        primary_key: UniqueConstraint | None = None,
        j_resolved_schema: Any = None,
    ) -> None:
        self._columns = list(columns or [])
        self._watermark_specs = list(watermark_specs or [])
        self._primary_key = primary_key

    @staticmethod
    def of(columns: list[Column]) -> ResolvedSchema:
        return ResolvedSchema(columns)

    @staticmethod
    def physical(column_names: list[str], column_data_types: list[DataType]) -> ResolvedSchema:
        pairs = zip(column_names, column_data_types, strict=True)
        return ResolvedSchema([Column.physical(name, kind) for name, kind in pairs])

    def get_column_count(self) -> int:
        return len(self._columns)

    def get_columns(self) -> list[Column]:
        return list(self._columns)

    def get_column_names(self) -> list[str]:
        return [column.get_name() for column in self._columns]

    def get_column_data_types(self) -> list[DataType]:
        return [column.get_data_type() for column in self._columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        if isinstance(column_index_or_name, int):
            within = 0 <= column_index_or_name < len(self._columns)
            return self._columns[column_index_or_name] if within else None
        return next((column for column in self._columns if column.get_name() == column_index_or_name), None)

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        return list(self._watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        return self._primary_key

    def get_primary_key_indexes(self) -> list[int]:
        names = self.get_column_names()
        return [] if self._primary_key is None else [names.index(name) for name in self._primary_key.get_columns()]

    def to_source_row_data_type(self) -> DataType:
        return self._row_of(self._columns)

    def to_physical_row_data_type(self) -> DataType:
        return self._row_of([column for column in self._columns if column.is_physical()])

    def to_sink_row_data_type(self) -> DataType:
        return self._row_of([column for column in self._columns if column.is_persisted()])

    def _row_of(self, columns: list[Column]) -> RowType:
        return RowType([RowField(column.get_name(), column.get_data_type()) for column in columns], False)

    def __str__(self) -> str:
        parts = [column.as_summary_string() for column in self._columns]
        parts += [spec.as_summary_string() for spec in self._watermark_specs]
        parts += [self._primary_key.as_summary_string()] if self._primary_key is not None else []
        return "(\n{}\n)".format(",\n".join(f"  {part}" for part in parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolvedSchema) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self._columns))
