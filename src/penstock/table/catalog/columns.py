"""The columns of a table whose types are known."""

from __future__ import annotations

import copy
from typing import Any, Self

from penstock.columns.typesystem.base import DataType
from penstock.common.errors import ProgramError
from penstock.table.resolved_expression import ResolvedExpression


class Column:
    """A column: physical (stored), computed (from others), or metadata (of the connector)."""

    _name: str
    _data_type: DataType
    _comment: str | None
    _time: str | None = None  # ROWTIME or PROCTIME

    def __init__(self, j_column: Any = None) -> None:
        raise ProgramError("Make columns with Column.physical(), Column.computed() or Column.metadata().")

    def _filled(self, name: str, data_type: DataType) -> Self:
        self._name, self._data_type, self._comment = name, data_type, None
        return self

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        return PhysicalColumn.__new__(PhysicalColumn)._filled(name, data_type)

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        column = ComputedColumn.__new__(ComputedColumn)
        column._expression = resolved_expression
        return column._filled(name, resolved_expression.get_output_data_type())

    @staticmethod
    def metadata(name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool) -> MetadataColumn:
        column = MetadataColumn.__new__(MetadataColumn)
        column._metadata_key, column._virtual = metadata_key, is_virtual
        return column._filled(name, data_type)

    def with_comment(self, comment: str | None) -> Self:
        other = copy.copy(self)
        other._comment = comment
        return other

    def is_physical(self) -> bool:
        return False

    def is_persisted(self) -> bool:
        """Whether rows that are written have it."""
        return True

    def get_data_type(self) -> DataType:
        return self._data_type

    def get_name(self) -> str:
        return self._name

    def get_comment(self) -> str | None:
        return self._comment

    def as_summary_string(self) -> str:
        text = f"`{self._name}` {self._data_type.as_summary_string()}"
        text += f" *{self._time}*" if self._time is not None else ""
        extras = self.explain_extras()
        return f"{text} {extras}" if extras else text

    def explain_extras(self) -> str | None:
        return None

    def copy(self, new_type: DataType) -> Self:
        other = copy.copy(self)
        other._data_type = new_type
        return other

    def rename(self, new_name: str) -> Self:
        other = copy.copy(self)
        other._name = new_name
        return other

    def __str__(self) -> str:
        return self.as_summary_string()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self._name, self._data_type))


def column_of_a_query(name: str, data_type: DataType, time: str | None) -> PhysicalColumn:
    """A column of a query's result, which may be a time attribute."""
    column = Column.physical(name, data_type)
    column._time = time
    return column


class _Copied(Column):
    """PyFlink calls the type differently here."""

    def copy(self, new_data_type: DataType) -> Self:
        return super().copy(new_data_type)


class PhysicalColumn(_Copied):
    """A column that is stored."""

    def is_physical(self) -> bool:
        return True


class ComputedColumn(_Copied):
    """A column that is computed from others."""

    _expression: ResolvedExpression

    def is_persisted(self) -> bool:
        return False

    def get_expression(self) -> ResolvedExpression:
        return self._expression

    def explain_extras(self) -> str | None:
        return f"AS {self._expression.as_summary_string()}"


class MetadataColumn(_Copied):
    """A column that the connector knows about each row."""

    _metadata_key: str | None
    _virtual: bool

    def is_virtual(self) -> bool:
        return self._virtual

    def get_metadata_key(self) -> str | None:
        return self._metadata_key

    def is_persisted(self) -> bool:
        return not self._virtual

    def explain_extras(self) -> str | None:
        source = f" FROM '{self._metadata_key}'" if self._metadata_key is not None else ""
        return f"METADATA{source}{' VIRTUAL' if self._virtual else ''}"
