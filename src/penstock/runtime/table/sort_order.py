"""ORDER BY for values in Python: a key that compares as SQL orders rows, also downwards and with nulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.datum import plain_values
from penstock.columns.typed.nodes import InputRef, SortKey
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.scalars import DecimalType


class Downwards:
    """Compares the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Downwards) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Downwards) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Downwards, (self.value,)


class SortOrder:
    """Sort keys of rows whose columns they name."""

    def __init__(self, keys: Sequence[SortKey], types: Sequence[DataType]) -> None:
        self.keys = tuple(keys)
        self._types = types

    def place(self, key: SortKey) -> int:
        assert isinstance(key.operand, InputRef), "the plan computes what is sorted by"
        return key.operand.index

    def of_columns(self, columns: Sequence[pa.Array]) -> list[tuple[Any, ...]]:
        """The keys of rows in columns."""
        parts = []
        for key in self.keys:
            data_type = self._types[self.place(key)]
            values = plain_values(columns[self.place(key)], data_type)
            parts.append([_comparable(value, key, data_type) for value in values])
        return list(zip(*parts, strict=True)) if parts else [()] * (len(columns[0]) if columns else 0)


def _comparable(value: Any, key: SortKey, data_type: DataType) -> tuple[int, Any]:
    if value is None:
        return (0 if key.nulls_first else 2, 0)
    if key.ascending:
        return (1, value)
    countable = families.is_number(data_type) or families.is_moment(data_type) or isinstance(data_type, DecimalType)
    return (1, -value) if countable else (1, Downwards(value))
