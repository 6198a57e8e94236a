"""Comparisons: =, <, IN, IS DISTINCT FROM; a null on either side gives null."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, Invocation, Kernel, as_array, per_value
from penstock.columns.typesystem import families
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType


def comparing(compare: Callable[[Datum, Datum], Datum], plain: Callable[[Any, Any], bool]) -> Kernel:
    """A kernel of pyarrow, and for arrays, maps and rows one of Python values."""

    def kernel(call: Invocation) -> Datum:
        left, right = call.arguments
        if isinstance(call.types[0], (ArrayType, MapType, MultisetType, RowType)):
            return per_value(plain)(call)
        if pa.types.is_boolean(left.type) and compare not in (pc.equal, pc.not_equal):
            left, right = pc.cast(left, pa.int8()), pc.cast(right, pa.int8())
        return compare(left, right)

    return kernel


equals = comparing(pc.equal, lambda left, right: bool(left == right))
not_equals = comparing(pc.not_equal, lambda left, right: bool(left != right))
less_than = comparing(pc.less, lambda left, right: bool(left < right))
less_or_equal = comparing(pc.less_equal, lambda left, right: bool(left <= right))
greater_than = comparing(pc.greater, lambda left, right: bool(left > right))
greater_or_equal = comparing(pc.greater_equal, lambda left, right: bool(left >= right))


def is_distinct(call: Invocation) -> Datum:
    """Never null: two nulls are the same."""
    left, right = call.arguments
    differ = pc.fill_null(not_equals(call), True)
    return pc.if_else(pc.and_(pc.is_null(left), pc.is_null(right)), False, differ)


def is_not_distinct(call: Invocation) -> Datum:
    return pc.invert(is_distinct(call))


def in_list(call: Invocation) -> Datum:
    """True when found; otherwise null if the value or any member is null."""
    value, members = call.arguments[0], call.arguments[1:]
    plain = not families.is_collection(call.types[0]) and not families.is_row(call.types[0])
    if plain and all(isinstance(member, pa.Scalar) for member in members):
        return _in_constants(value, members)
    found: Datum = None
    for place, member in enumerate(members):
        pair = Invocation(
            (value, member), (call.types[0], call.types[place + 1]), call.result_type, call.rows, call.session
        )
        same = equals(pair)
        found = same if found is None else pc.or_kleene(found, same)
    return found


def _in_constants(value: Datum, members: Any) -> Datum:
    present = [member for member in members if member.is_valid]
    column = as_array(value, 1)
    options = pa.array([member.as_py() for member in present], column.type) if present else pa.nulls(0, column.type)
    found = pc.is_in(column, value_set=options)
    if len(present) < len(members):
        found = pc.if_else(found, True, pa.scalar(None, pa.bool_()))
    found = pc.if_else(pc.is_valid(column), found, pa.scalar(None, pa.bool_()))
    return found[0] if isinstance(value, pa.Scalar) else found


def is_null(call: Invocation) -> Datum:
    return pc.is_null(call.arguments[0])


def is_not_null(call: Invocation) -> Datum:
    return pc.is_valid(call.arguments[0])


def is_true(call: Invocation) -> Datum:
    return pc.fill_null(call.arguments[0], False)


def is_false(call: Invocation) -> Datum:
    return pc.invert(pc.fill_null(call.arguments[0], True))


def is_not_true(call: Invocation) -> Datum:
    return pc.invert(is_true(call))


def is_not_false(call: Invocation) -> Datum:
    return pc.invert(is_false(call))


def negation(call: Invocation) -> Datum:
    return pc.invert(call.arguments[0])


def true_rows(condition: Datum, rows: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where a condition holds: null does not."""
    column = as_array(condition, rows)
    filled = pc.fill_null(column, False) if column.null_count else column
    result: np.ndarray[Any, np.dtype[np.bool_]] = filled.to_numpy(zero_copy_only=False)
    return result
