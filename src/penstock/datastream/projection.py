"""Picks fields of tuples."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TupleTypeInfo
from penstock.functions.element import MapFunction

__all__ = ["Projection"]


class Projection(MapFunction):
    """The function behind ``ds.project(2, 0)``."""

    def __init__(self, indexes: tuple[int, ...], type_info: TupleTypeInfo) -> None:
        types = type_info.get_field_types()
        if not indexes:
            raise ProgramError("project() needs the index of at least one field")
        for index in indexes:
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(types):
                raise ProgramError(
                    f"project(): {type_info!r} has no field {index!r}; use indexes from 0 to {len(types) - 1}"
                )
        self.fields = indexes
        self.output_type = TupleTypeInfo([types[index] for index in indexes])

    def map(self, value: Any) -> tuple[Any, ...]:
        return tuple(value[index] for index in self.fields)
