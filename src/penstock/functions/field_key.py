"""Keys that are fields of the record: known without a call of user code, so that they can stay columns."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.functions.element import KeySelector

__all__ = ["FieldKey"]

_getter: Any = itemgetter  # mypy fails on a call with a varying number of arguments


class FieldKey(KeySelector):
    """The key is one field of a tuple or row, or the tuple of several."""

    def __init__(self, *positions: int, getter: Any = None) -> None:
        self.positions = positions
        self.getter = _getter(*positions) if getter is None else getter

    def get_key(self, value: Any) -> Any:
        return self.getter(value)

    @staticmethod
    def of(selector: Any, type_info: TypeInformation) -> FieldKey | None:
        """For an ``operator.itemgetter`` on records of a declared type with such fields; None for other selectors."""
        if type(selector) is not itemgetter or not isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
            return None
        names = type_info.get_field_names() if isinstance(type_info, RowTypeInfo) else []
        positions = []
        for item in selector.__reduce__()[1]:
            position = names.index(item) if item in names else item
            if type(position) is not int or not 0 <= position < len(type_info.get_field_types()):
                return None
            positions.append(position)
        # Rows are asked by the user's own getter: inside a chain they may have their fields in another order.
        return FieldKey(*positions, getter=selector)
