"""TableSchema: the older form of a schema, names and types only."""

from __future__ import annotations

from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowField, RowType

__all__ = ["TableSchema"]


class TableSchema:
    """Names and types of the columns of a table."""

    def __init__(
        self,
        field_names: list[str] | None = None,
        data_types: list[DataType] | None = None,
        j_table_schema: Any = None,
    ) -> None:
        self._names = list(field_names or [])
        self._types = list(data_types or [])
        if len(self._names) != len(self._types):
            raise ValueError(f"{len(self._names)} names are given for {len(self._types)} types.")

    def copy(self) -> TableSchema:
        return TableSchema(self._names, self._types)

    def get_field_data_types(self) -> list[DataType]:
        return list(self._types)

    def get_field_data_type(self, field: int | str) -> DataType | None:
        if not isinstance(field, (int, str)):
            raise TypeError(f"Expected field index or field name, got {type(field)}")
        place = self._names.index(field) if isinstance(field, str) and field in self._names else field
        return self._types[place] if isinstance(place, int) and 0 <= place < len(self._types) else None

    def get_field_count(self) -> int:
        return len(self._names)

    def get_field_names(self) -> list[str]:
        return list(self._names)

    def get_field_name(self, field_index: int) -> str | None:
        return self._names[field_index] if 0 <= field_index < len(self._names) else None

    def to_row_data_type(self) -> RowType:
        return RowType([RowField(name, kind) for name, kind in zip(self._names, self._types, strict=True)])

    def __repr__(self) -> str:
        lines = [
            f" |-- {name}: {kind.as_summary_string()}\n" for name, kind in zip(self._names, self._types, strict=True)
        ]
        return "root\n" + "".join(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSchema) and (self._names, self._types) == (other._names, other._types)

    def __hash__(self) -> int:
        return hash(tuple(self._names))

    @classmethod
    def builder(cls) -> TableSchema.Builder:
        return TableSchema.Builder()

    class Builder:
        """Collects fields."""

        def __init__(self) -> None:
            self._names: list[str] = []
            self._types: list[DataType] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            self._names.append(name)
            self._types.append(data_type)
            return self

        def build(self) -> TableSchema:
            return TableSchema(self._names, self._types)
