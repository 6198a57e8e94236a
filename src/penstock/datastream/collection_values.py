"""The elements of a collection in the shape that their declared type wants: more is taken here than between operators.

As in PyFlink, lists and tuples stand for tuples and rows, dicts and objects for named rows, integers wrap around, and
what is declared to be text becomes text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.text import java_text
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    _ElementsTypeInfo,
)
from penstock.common.types import Row
from penstock.runtime.coercion import coercer

__all__ = ["typed_elements"]

Shaper = Callable[[Any], Any]

_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32}


def typed_elements(elements: list[Any], type_info: TypeInformation) -> list[Any]:
    if not isinstance(type_info, TypeInformation):
        raise ProgramError(f"from_collection(): type_info is a TypeInformation such as Types.INT(), got {type_info!r}")
    coerce = coercer(type_info)
    if coerce is None:
        return elements
    shape = _shaper(type_info)
    typed = []
    for index, element in enumerate(elements):
        try:
            typed.append(coerce(shape(element)))
        except (TypeError, ValueError) as error:
            raise ProgramError(f"from_collection(): element {index}: {error}") from error
    return typed


def _shaper(type_info: TypeInformation) -> Shaper:
    if isinstance(type_info, ExternalTypeInfo):
        return _shaper(type_info.type_info)
    if isinstance(type_info, BasicTypeInfo):
        return _basic_shaper(type_info.basic_type)
    if isinstance(type_info, RowTypeInfo):
        return _row_shaper(type_info)
    if isinstance(type_info, TupleTypeInfo):
        fields = [_shaper(field_type) for field_type in type_info.get_field_types()]
        return lambda value: tuple(_each(fields, value)) if isinstance(value, (tuple, list, Row)) else value
    if isinstance(type_info, _ElementsTypeInfo):
        element = _shaper(type_info.element_type)
        return lambda value: [element(item) for item in value] if isinstance(value, (tuple, list)) else value
    if isinstance(type_info, MapTypeInfo):
        key, item = _shaper(type_info.key_type), _shaper(type_info.value_type)
        return lambda value: {key(k): item(v) for k, v in value.items()} if isinstance(value, dict) else value
    return _as_is


def _basic_shaper(basic: BasicType) -> Shaper:
    bits = _BITS.get(basic)
    if bits is not None:
        half = 1 << bits - 1
        return lambda value: (value + half) % (2 * half) - half if type(value) is int else value
    if basic is BasicType.STRING:
        return lambda value: java_text(value) if isinstance(value, (int, float)) else value
    return _as_is


def _row_shaper(type_info: RowTypeInfo) -> Shaper:
    fields, names = [_shaper(field_type) for field_type in type_info.get_field_types()], type_info.get_field_names()

    def shape(value: Any) -> Any:
        if isinstance(value, Row):
            values = value._values if value._fields is None else value.get_fields_by_names(names)
            return Row._of(_each(fields, values), names, value._row_kind)
        if isinstance(value, (tuple, list)):
            return Row._of(_each(fields, value), names)
        by_name = value if isinstance(value, dict) else getattr(value, "__dict__", None)
        if by_name is None:
            return value
        return Row._of(_each(fields, [by_name.get(name) for name in names]), names)

    return shape


def _each(shapers: Sequence[Shaper], values: Iterable[Any]) -> list[Any]:
    """More values than fields are ignored; whoever has fewer is refused by the coercer."""
    return [shape(value) for shape, value in zip(shapers, values, strict=False)]


def _as_is(value: Any) -> Any:
    return value
