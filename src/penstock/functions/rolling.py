"""The reduce functions behind sum, min, max, min_by and max_by of a keyed stream."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar, cast

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation, Types
from penstock.common.types import Row
from penstock.functions.element import ReduceFunction

__all__ = ["Maximum", "MaximumBy", "Minimum", "MinimumBy", "RollingAggregation", "Sum"]


class RollingAggregation(ReduceFunction):
    """Aggregates one field: an index, the name of a Row's field, or 0 for a value without fields."""

    operation: ClassVar[str]

    def __init__(self, position: int | str, type_info: TypeInformation) -> None:
        self._position = checked_position(position, type_info, self.operation)
        self.type_info = type_info
        self.integral = _is_integral(type_info, self._position)

    def reduce(self, value1: Any, value2: Any) -> Any:
        return self.combine(value1, value2, self.field(value1), self.field(value2))

    @abstractmethod
    def combine(self, value1: Any, value2: Any, field1: Any, field2: Any) -> Any:
        """The record that stands for both."""

    def field(self, value: Any) -> Any:
        """The aggregated field of a record, whose type may be unknown until now."""
        try:
            if isinstance(value, (tuple, list, Row)):
                return value[cast(int, self._position)]
        except (TypeError, IndexError, KeyError, ValueError):
            raise self._no_such_field(value) from None
        if self._position != 0:
            raise self._no_such_field(value)
        return value

    def replaced(self, value: Any, field: Any) -> Any:
        """The record with another value in the aggregated field, everything else as it was."""
        if isinstance(value, Row):
            row = copy.copy(value)
            row[self._position] = field
            return row
        if isinstance(value, (tuple, list)):
            items = list(value)
            items[cast(int, self._position)] = field  # field() has refused names
            if isinstance(value, list):
                return items
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        return field

    def _no_such_field(self, value: Any) -> ProgramError:
        return ProgramError(
            f"{self.operation}: the record {value!r} has no field {self._position!r}; {_fields_of(value)}"
        )


class Sum(RollingAggregation):
    operation = "sum()"

    def combine(self, value1: Any, value2: Any, field1: Any, field2: Any) -> Any:
        return self.replaced(value1, field1 + field2)


class Minimum(RollingAggregation):
    operation = "min()"

    def combine(self, value1: Any, value2: Any, field1: Any, field2: Any) -> Any:
        return self.replaced(value1, field2) if field2 < field1 else value1


class Maximum(RollingAggregation):
    operation = "max()"

    def combine(self, value1: Any, value2: Any, field1: Any, field2: Any) -> Any:
        return self.replaced(value1, field2) if field2 > field1 else value1


class MinimumBy(RollingAggregation):
    operation = "min_by()"

    def combine(self, value1: Any, value2: Any, field1: Any, field2: Any) -> Any:
        return value2 if field2 < field1 else value1


class MaximumBy(RollingAggregation):
    operation = "max_by()"

    def combine(self, value1: Any, value2: Any, field1: Any, field2: Any) -> Any:
        return value2 if field2 > field1 else value1


def checked_position(position: int | str, type_info: TypeInformation, operation: str) -> int | str:
    """The position as the records want it; a wrong one is refused here as far as the type is known."""
    if isinstance(position, bool) or not isinstance(position, (int, str)):
        raise ProgramError(f"{operation} takes the index or the name of a field, got {position!r}")
    if isinstance(type_info, PickledBytesTypeInfo):
        return position
    if isinstance(type_info, RowTypeInfo):
        names = type_info.get_field_names()
        if isinstance(position, str) and position not in names:
            raise ProgramError(f"{operation}: {type_info!r} has no field {position!r}; its fields are {names}")
        # By index, because a Row that was made without names travels nameless inside a chain.
        return names.index(position) if isinstance(position, str) else _checked_index(position, type_info, operation)
    if isinstance(type_info, TupleTypeInfo):
        if isinstance(position, str):
            raise ProgramError(
                f"{operation}: the fields of {type_info!r} have no names, got {position!r};"
                f" use an index from 0 to {len(type_info.get_field_types()) - 1}"
            )
        return _checked_index(position, type_info, operation)
    if hasattr(type_info, "element_type"):
        return position
    if position != 0:
        raise ProgramError(
            f"{operation}: records of type {type_info!r} have no fields; leave the position out (got {position!r})"
        )
    return position


def _is_integral(type_info: TypeInformation, position: int | str) -> bool:
    """Whether the field is declared as whole numbers, whose aggregation does not depend on their order."""
    field = type_info
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)) and isinstance(position, int):
        field = type_info.get_field_types()[position]
    return field in (Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG(), Types.BIG_INT())


def _checked_index(position: int, type_info: RowTypeInfo | TupleTypeInfo, operation: str) -> int:
    count = len(type_info.get_field_types())
    if not -count <= position < count:
        raise ProgramError(f"{operation}: {type_info!r} has no field {position}; use an index from 0 to {count - 1}")
    return position % count


def _fields_of(value: Any) -> str:
    if isinstance(value, Row) and value._fields is not None:
        return f"its fields are {list(value._fields)}"
    if isinstance(value, (tuple, list, Row)):
        return f"use an index from 0 to {len(value) - 1}"
    return "a value without fields is aggregated as a whole: leave the position out"
