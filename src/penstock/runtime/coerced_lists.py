"""Applies a declared type to many values at once: most are of it already, which is seen without calling anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.common.typeinfo import BasicType, BasicTypeInfo, TupleTypeInfo, TypeInformation
from penstock.runtime.coercion import coercer

_INTEGER_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_ONLY = {BasicType.BOOLEAN: {bool}, BasicType.DOUBLE: {float}, BasicType.BIG_INT: {int}}


def list_coercer(type_info: TypeInformation) -> Callable[[list[Any]], list[Any]] | None:
    """None when the type takes every value as it is. A list that needs no change comes back itself."""
    coerce = coercer(type_info)
    if coerce is None:
        return None
    are_settled = settled_check(type_info)

    def coerced(values: list[Any]) -> list[Any]:
        return values if are_settled is not None and are_settled(values) else list(map(coerce, values))

    return coerced


def settled_check(type_info: TypeInformation) -> Callable[[Sequence[Any]], bool] | None:
    """The question whether all values are such that the type changes none. It may say no too often, and None
    stands for a question that nobody could answer."""
    if isinstance(type_info, TupleTypeInfo):
        return _settled_tuples(type_info)
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


def _settled_tuples(type_info: TupleTypeInfo) -> Callable[[Sequence[Any]], bool] | None:
    checks = [check for check in map(settled_check, type_info.get_field_types()) if check is not None]
    width = len(type_info.get_field_types())
    if not checks or len(checks) < width:
        return None

    def are_settled(values: Sequence[Any]) -> bool:
        if set(map(type, values)) != {tuple} or set(map(len, values)) != {width}:
            return False
        return all(check(field) for check, field in zip(checks, zip(*values, strict=True), strict=True))

    return are_settled
