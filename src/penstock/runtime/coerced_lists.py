"""Applies a declared type to many values at once: most are of it already, which is seen without calling anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common.typeinfo import BasicType, BasicTypeInfo, TypeInformation
from penstock.runtime.coercion import coercer

_INTEGER_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_ONLY = {BasicType.BOOLEAN: {bool}, BasicType.DOUBLE: {float}, BasicType.BIG_INT: {int}}


def list_coercer(type_info: TypeInformation) -> Callable[[list[Any]], list[Any]] | None:
    """None when the type takes every value as it is. A list that needs no change comes back itself."""
    coerce = coercer(type_info)
    if coerce is None:
        return None
    are_settled = _look_for(type_info)

    def coerced(values: list[Any]) -> list[Any]:
        return values if are_settled is not None and are_settled(values) else list(map(coerce, values))

    return coerced


def _look_for(type_info: TypeInformation) -> Callable[[list[Any]], bool] | None:
    """The question whether all values are such that the type changes none. It may say no too often."""
    kind = type_info.basic_type if isinstance(type_info, BasicTypeInfo) else None
    if kind is BasicType.STRING:  # what is no ASCII may be no valid Unicode
        return lambda values: set(map(type, values)) == {str} and all(map(str.isascii, values))
    if kind in _ONLY:
        only = _ONLY[kind]
        return lambda values: set(map(type, values)) == only
    if kind in _INTEGER_BITS:
        end = 1 << _INTEGER_BITS[kind] - 1
        return lambda values: set(map(type, values)) == {int} and -end <= min(values) and max(values) < end
    return None
