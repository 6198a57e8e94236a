"""Expressions whose columns and types are known."""

from __future__ import annotations

from typing import Any

from penstock.columns.typed.nodes import Typed
from penstock.columns.typed.rendering import rendered
from penstock.columns.typesystem.base import DataType
from penstock.table.expression import Expression

__all__ = ["ResolvedExpression"]


class ResolvedExpression(Expression[Any]):
    """An expression of a resolved schema: it can be looked at."""

    def __init__(self, j_resolved_expr: Any) -> None:
        if not isinstance(j_resolved_expr, Typed):
            raise TypeError("A ResolvedExpression is made by a table, not by programs.")
        self._typed = j_resolved_expr

    def get_output_data_type(self) -> DataType:
        return self._typed.data_type

    def get_resolved_children(self) -> list[ResolvedExpression]:
        return [ResolvedExpression(child) for child in self._typed.children()]

    def as_serializable_string(self) -> str:
        return rendered(self._typed)

    def as_summary_string(self) -> str:
        return rendered(self._typed)

    def __str__(self) -> str:
        return self.as_summary_string()

    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        return isinstance(other, ResolvedExpression) and self._typed == other._typed

    def __hash__(self) -> int:
        return hash(self._typed)
