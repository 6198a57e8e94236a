"""Functions of bitmaps."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import BYTES, INTEGER, Kind, takes
from penstock.columns.functions.function import Function, ResultRule, Role
from penstock.columns.kernels import bitmaps
from penstock.columns.kernels.datum import per_value
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.families import is_integer
from penstock.columns.typesystem.nested import ArrayType
from penstock.columns.typesystem.scalars import BitmapType

_BITMAP, _BIGINT = BitmapType(), DataTypes.BIGINT()
BITMAP = Kind("bitmap", lambda t: isinstance(t, BitmapType), _BITMAP)
INTEGERS = Kind(
    "array of whole numbers",
    lambda t: isinstance(t, ArrayType) and is_integer(t.element_type),
    DataTypes.ARRAY(DataTypes.INT()),
)


def _function(name: str, kinds: tuple[Kind, ...], result: ResultRule, function: object) -> Function:
    assert callable(function)
    return Function(f"BITMAP_{name}", takes(*kinds), result, per_value(function), (f"BITMAP_{name}",))


def _aggregate(name: str, kind: Kind) -> tuple[Function, Function]:
    """The bitmap of all rows, and how many members it has."""
    both = ((f"BITMAP_{name}_AGG", _BITMAP), (f"BITMAP_{name}_CARDINALITY_AGG", _BIGINT))
    one, other = (
        Function(full, takes(kind), results.maybe(result), None, (full,), Role.AGGREGATE) for full, result in both
    )
    return one, other


BITMAPS: tuple[Function, ...] = (
    _function("AND", (BITMAP, BITMAP), results.of(_BITMAP), bitmaps.both),
    _function("ANDNOT", (BITMAP, BITMAP), results.of(_BITMAP), bitmaps.without),
    _function("BUILD", (INTEGERS,), results.of(_BITMAP), bitmaps.built),
    _function("CARDINALITY", (BITMAP,), results.of(_BIGINT), bitmaps.cardinality),
    _function("FROM_BYTES", (BYTES,), results.of(_BITMAP), bitmaps.from_bytes),
    _function("OR", (BITMAP, BITMAP), results.of(_BITMAP), bitmaps.either),
    _function("TO_ARRAY", (BITMAP,), results.of(DataTypes.ARRAY(DataTypes.INT())), bitmaps.to_array),
    _function("TO_BYTES", (BITMAP,), results.of(DataTypes.BYTES()), bitmaps.to_bytes),
    _function("TO_STRING", (BITMAP,), results.of(DataTypes.STRING()), bitmaps.to_text),
    _function("XOR", (BITMAP, BITMAP), results.of(_BITMAP), bitmaps.one_of),
    *_aggregate("AND", BITMAP),
    *_aggregate("BUILD", INTEGER),
    *_aggregate("OR", BITMAP),
    *_aggregate("XOR", BITMAP),
)
