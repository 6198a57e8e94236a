"""Collected records as PyFlink's client shows them: a 32-bit float has the digits that Java writes, 0.1 and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.text import shortest_float32
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    _ElementsTypeInfo,
    _FieldsTypeInfo,
)
from penstock.common.types import Row

__all__ = ["as_the_client_sees"]

View = Callable[[Any], Any]


def as_the_client_sees(records: Iterator[Any], type_info: TypeInformation) -> Iterator[Any]:
    view = _view_of(type_info)
    return records if view is None else map(view, records)


def _view_of(type_info: TypeInformation) -> View | None:
    """None when values of the type are shown as they are, which is so for all that hold no 32-bit float."""
    if isinstance(type_info, ExternalTypeInfo):
        return _view_of(type_info.type_info)
    if isinstance(type_info, BasicTypeInfo):
        return _shortest if type_info.basic_type is BasicType.FLOAT else None
    if isinstance(type_info, _FieldsTypeInfo):
        return _view_of_fields(type_info)
    if isinstance(type_info, _ElementsTypeInfo):
        element = _view_of(type_info.element_type)
        return None if element is None else _unless_none(lambda values: [element(value) for value in values])
    if isinstance(type_info, MapTypeInfo):
        key, value = _view_of(type_info.key_type), _view_of(type_info.value_type)
        if key is None and value is None:
            return None
        key, value = key or _as_is, value or _as_is
        return _unless_none(lambda entries: {key(k): value(v) for k, v in entries.items()})
    return None


def _view_of_fields(type_info: TupleTypeInfo | RowTypeInfo | _FieldsTypeInfo) -> View | None:
    views = [_view_of(field_type) for field_type in type_info.get_field_types()]
    if not any(views):
        return None
    fields = [view or _as_is for view in views]

    def seen(values: Any) -> list[Any]:
        return [view(value) for view, value in zip(fields, values, strict=True)]

    if isinstance(type_info, RowTypeInfo):
        return _unless_none(lambda row: Row._of(seen(row._values), row._fields, row._row_kind))
    return _unless_none(lambda values: tuple(seen(values)))


def _shortest(value: float | None) -> float | None:
    return None if value is None else float(shortest_float32(value))


def _as_is(value: Any) -> Any:
    return value


def _unless_none(view: View) -> View:
    return lambda value: None if value is None else view(value)
