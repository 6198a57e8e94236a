"""Functions of arrays, maps and rows; making them and looking inside."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import (
    ANY,
    ARRAY,
    BOOLEAN,
    COLLECTION,
    INTEGER,
    MAP,
    TEXT,
    anything,
    shared,
    takes,
)
from penstock.columns.functions.function import MISSING, Function, SignatureError, Site
from penstock.columns.kernels import collections, json_functions
from penstock.columns.kernels.datum import Datum, Invocation
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.casting import implicitly_castable
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.merging import common_type
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowField, RowType, StructuredType
from penstock.columns.typesystem.scalars import VariantType

_INT = DataTypes.INT()


def _only_element_type(site: Site) -> DataType:
    return results.element(None if site.sql else True)(site)


def _element_type(data_type: DataType) -> DataType:
    assert isinstance(data_type, ArrayType)
    return data_type.element_type


def _with_element(site: Site) -> tuple[DataType, ...]:
    """An array and a value that becomes one of its elements."""
    if len(site.types) != 2 or not ARRAY.test(site.types[0]):
        raise SignatureError("it takes (array, element)")
    element, value = _element_type(site.types[0]), site.types[1]
    if not implicitly_castable(value.nullable(), element.nullable()):
        raise SignatureError(
            f"the value must be a {element.nullable().as_summary_string()}, but is {value.as_summary_string()}"
        )
    return site.types[0], element.with_nullability(value.is_nullable)


def _grown(site: Site) -> DataType:
    """The array's type, whose elements may be null when the new one may."""
    array, value = site.types
    element = _element_type(array)
    return ArrayType(
        element.with_nullability(element.is_nullable or value.is_nullable), array.is_nullable or value.is_nullable
    )


def _array_type(site: Site) -> DataType:
    found = common_type(site.types)
    assert found is not None
    return ArrayType(found, False)


def _map_arguments(site: Site) -> tuple[DataType, ...]:
    if not site.types or len(site.types) % 2:
        raise SignatureError("it takes pairs of keys and values")
    keys, values = common_type(site.types[0::2]), common_type(site.types[1::2])
    if keys is None or values is None:
        raise SignatureError("all keys must have a common type, and all values")
    return tuple((keys, values)[place % 2].with_nullability(t.is_nullable) for place, t in enumerate(site.types))


def _map_type(site: Site) -> DataType:
    keys, values = common_type(site.types[0::2]), common_type(site.types[1::2])
    assert keys is not None and values is not None
    return MapType(keys, values, False)


def _row_type(site: Site) -> DataType:
    prefix = "EXPR$" if site.sql else "f"
    return RowType([RowField(f"{prefix}{place}", part) for place, part in enumerate(site.types)], False)


def _at_arguments(site: Site) -> tuple[DataType, ...]:
    if len(site.types) != 2:
        raise SignatureError("it takes (array, index) or (map, key)")
    whole, key = site.types
    if isinstance(whole, VariantType):
        return whole, key
    if isinstance(whole, MapType):
        return whole, whole.key_type.with_nullability(key.is_nullable)
    if isinstance(whole, MultisetType):
        return whole, whole.element_type.with_nullability(key.is_nullable)
    if ARRAY.test(whole) and INTEGER.test(key):
        if site.literal(1) is not MISSING and site.literal(1) is not None and site.literal(1) < 1:
            raise SignatureError(f"elements of arrays count from 1, but {site.literal(1)} was asked for")
        return whole, key
    raise SignatureError("it takes (array, index) or (map, key)")


def _at_type(site: Site) -> DataType:
    whole = site.types[0]
    if isinstance(whole, MapType):
        return whole.value_type.nullable()
    if isinstance(whole, MultisetType):
        return _INT
    return VariantType() if isinstance(whole, VariantType) else _element_type(whole).nullable()


def _at(call: Invocation) -> Datum:
    return json_functions.variant_at(call) if isinstance(call.types[0], VariantType) else collections.element_at(call)


def _entries_type(site: Site) -> DataType:
    whole = site.types[0]
    assert isinstance(whole, MapType)
    row = RowType([RowField("key", whole.key_type), RowField("value", whole.value_type)])
    return ArrayType(row, whole.is_nullable)


def _keys_type(site: Site) -> DataType:
    whole = site.types[0]
    assert isinstance(whole, MapType)
    return ArrayType(whole.key_type, whole.is_nullable)


def _values_type(site: Site) -> DataType:
    whole = site.types[0]
    assert isinstance(whole, MapType)
    return ArrayType(whole.value_type, whole.is_nullable)


def _from_arrays_type(site: Site) -> DataType:
    return MapType(_element_type(site.types[0]), _element_type(site.types[1]), site.any_nullable)


def _field_type(site: Site) -> DataType:
    row = site.types[0]
    assert isinstance(row, RowType)
    inner: DataType = row.fields[site.option("index")].data_type
    return inner.with_nullability(row.is_nullable or inner.is_nullable)


def _object_type(site: Site) -> DataType:
    names = [site.literal(place) for place in range(1, len(site.types), 2)]
    if site.literal(0) is MISSING or any(not isinstance(name, str) for name in names) or len(site.types) % 2 == 0:
        raise SignatureError("it takes the class and the names of the fields as literals: ('class', 'a', 1, ..)")
    fields = [RowField(name, part) for name, part in zip(names, site.types[2::2], strict=True)]
    return StructuredType(site.literal(0), fields)


_SAME = shared(2, kind=ARRAY)

COLLECTIONS: tuple[Function, ...] = (
    Function("cardinality", takes(COLLECTION), results.of(_INT), collections.cardinality, ("CARDINALITY",)),
    Function("element", takes(ARRAY), _only_element_type, collections.only_element, ("ELEMENT",)),
    Function("ARRAY_APPEND", _with_element, _grown, collections.array_append, ("ARRAY_APPEND",)),
    Function(
        "ARRAY_CONTAINS",
        _with_element,
        lambda site: DataTypes.BOOLEAN(site.types[0].is_nullable),
        collections.array_contains,
        ("ARRAY_CONTAINS",),
    ),
    Function("ARRAY_DISTINCT", takes(ARRAY), results.like(), collections.array_distinct, ("ARRAY_DISTINCT",)),
    Function("ARRAY_POSITION", _with_element, results.of(_INT), collections.array_position, ("ARRAY_POSITION",)),
    Function("ARRAY_PREPEND", _with_element, _grown, collections.array_prepend, ("ARRAY_PREPEND",)),
    Function("ARRAY_REMOVE", _with_element, lambda site: site.types[0], collections.array_remove, ("ARRAY_REMOVE",)),
    Function("ARRAY_REVERSE", takes(ARRAY), results.like(), collections.array_reverse, ("ARRAY_REVERSE",)),
    Function(
        "ARRAY_SLICE",
        takes(ARRAY, INTEGER, INTEGER, optional=1),
        results.like(),
        collections.array_slice,
        ("ARRAY_SLICE",),
    ),
    Function(
        "ARRAY_SORT",
        takes(ARRAY, BOOLEAN, BOOLEAN, optional=2),
        results.like(),
        collections.array_sort,
        ("ARRAY_SORT",),
    ),
    Function("ARRAY_UNION", _SAME, results.common(), collections.array_union, ("ARRAY_UNION",)),
    Function("ARRAY_CONCAT", shared(1, kind=ARRAY), results.common(), collections.array_concat, ("ARRAY_CONCAT",)),
    Function("ARRAY_MAX", takes(ARRAY), results.element(nullable=True), collections.array_max, ("ARRAY_MAX",)),
    Function("ARRAY_MIN", takes(ARRAY), results.element(nullable=True), collections.array_min, ("ARRAY_MIN",)),
    Function(
        "ARRAY_JOIN",
        takes(ARRAY, TEXT, TEXT, optional=1),
        results.of(DataTypes.STRING()),
        collections.array_join,
        ("ARRAY_JOIN",),
    ),
    Function("ARRAY_EXCEPT", _SAME, results.common(), collections.array_except, ("ARRAY_EXCEPT",)),
    Function("ARRAY_INTERSECT", _SAME, results.common(), collections.array_intersect, ("ARRAY_INTERSECT",)),
    Function("MAP_KEYS", takes(MAP), _keys_type, collections.map_keys, ("MAP_KEYS",)),
    Function("MAP_VALUES", takes(MAP), _values_type, collections.map_values, ("MAP_VALUES",)),
    Function("MAP_ENTRIES", takes(MAP), _entries_type, collections.map_entries, ("MAP_ENTRIES",)),
    Function(
        "MAP_FROM_ARRAYS", takes(ARRAY, ARRAY), _from_arrays_type, collections.map_from_arrays, ("MAP_FROM_ARRAYS",)
    ),
    Function("MAP_UNION", shared(1, kind=MAP), results.common(), collections.map_union, ("MAP_UNION",)),
    Function("at", _at_arguments, _at_type, _at),
)

CONSTRUCTION: tuple[Function, ...] = (
    Function("row", takes(ANY, repeated=True), _row_type, collections.make_row),
    Function("array", shared(1), _array_type, collections.make_array),
    Function("map", _map_arguments, _map_type, collections.make_map),
    Function("get", anything(1, 1), _field_type, collections.field_of),
    Function("OBJECT_OF", anything(1), _object_type, collections.object_of, ("OBJECT_OF",)),
    Function("OBJECT_UPDATE", anything(3), lambda site: site.types[0], collections.object_update, ("OBJECT_UPDATE",)),
)
