"""Functions of arrays, maps, rows and bitmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.table.fluent.base import Fluent, T
from penstock.table.syntax.expressions import FieldOf

if TYPE_CHECKING:
    from penstock.table.expression import Expression


class CollectionMethods(Fluent[T]):
    def at(self, index: Any) -> Expression[Any]:
        return self._call("at", index)

    @property
    def cardinality(self) -> Expression[Any]:
        return self._call("cardinality")

    @property
    def element(self) -> Expression[Any]:
        return self._call("element")

    @property
    def flatten(self) -> Expression[Any]:
        return self._call("flatten")

    def array_append(self, addition: Any) -> Expression[Any]:
        return self._call("ARRAY_APPEND", addition)

    def array_contains(self, needle: Any) -> Expression[Any]:
        return self._call("ARRAY_CONTAINS", needle)

    def array_distinct(self) -> Expression[Any]:
        return self._call("ARRAY_DISTINCT")

    def array_position(self, needle: Any) -> Expression[Any]:
        return self._call("ARRAY_POSITION", needle)

    def array_prepend(self, addition: Any) -> Expression[Any]:
        return self._call("ARRAY_PREPEND", addition)

    def array_remove(self, needle: Any) -> Expression[Any]:
        return self._call("ARRAY_REMOVE", needle)

    def array_reverse(self) -> Expression[Any]:
        return self._call("ARRAY_REVERSE")

    def array_slice(self, start_offset: Any, end_offset: Any = None) -> Expression[Any]:
        return self._call("ARRAY_SLICE", start_offset, end_offset)

    def array_sort(self, ascending_order: Any = None, null_first: Any = None) -> Expression[Any]:
        return self._call("ARRAY_SORT", ascending_order, null_first)

    def array_union(self, array: Any) -> Expression[Any]:
        return self._call("ARRAY_UNION", array)

    def array_concat(self, *arrays: Any) -> Expression[Any]:
        return self._call("ARRAY_CONCAT", *arrays)

    def array_max(self) -> Expression[Any]:
        return self._call("ARRAY_MAX")

    def array_join(self, delimiter: Any, null_replacement: Any = None) -> Expression[Any]:
        return self._call("ARRAY_JOIN", delimiter, null_replacement)

    def array_min(self) -> Expression[Any]:
        return self._call("ARRAY_MIN")

    def array_except(self, array: Any) -> Expression[Any]:
        return self._call("ARRAY_EXCEPT", array)

    def array_intersect(self, array: Any) -> Expression[Any]:
        return self._call("ARRAY_INTERSECT", array)

    @property
    def map_keys(self) -> Expression[Any]:
        return self._call("MAP_KEYS")

    def map_union(self, *maps: Any) -> Expression[Any]:
        return self._call("MAP_UNION", *maps)

    @property
    def map_values(self) -> Expression[Any]:
        return self._call("MAP_VALUES")

    @property
    def map_entries(self) -> Expression[Any]:
        return self._call("MAP_ENTRIES")

    def get(self, name_or_index: Any) -> Expression[Any]:
        """A field of a row, by name or by position from 0."""
        if isinstance(name_or_index, int):
            return self._call("getByIndex", name_or_index)
        return self._make(FieldOf(self._node, name_or_index))

    def object_update(self, *kv: Any) -> Expression[Any]:
        return self._call("OBJECT_UPDATE", *kv)

    def bitmap_and(self, bitmap2: Any) -> Expression[Any]:
        return self._call("BITMAP_AND", bitmap2)

    def bitmap_andnot(self, bitmap2: Any) -> Expression[Any]:
        return self._call("BITMAP_ANDNOT", bitmap2)

    def bitmap_build(self) -> Expression[Any]:
        return self._call("BITMAP_BUILD")

    def bitmap_cardinality(self) -> Expression[Any]:
        return self._call("BITMAP_CARDINALITY")

    def bitmap_from_bytes(self) -> Expression[Any]:
        return self._call("BITMAP_FROM_BYTES")

    def bitmap_or(self, bitmap2: Any) -> Expression[Any]:
        return self._call("BITMAP_OR", bitmap2)

    def bitmap_to_array(self) -> Expression[Any]:
        return self._call("BITMAP_TO_ARRAY")

    def bitmap_to_bytes(self) -> Expression[Any]:
        return self._call("BITMAP_TO_BYTES")

    def bitmap_to_string(self) -> Expression[Any]:
        return self._call("BITMAP_TO_STRING")

    def bitmap_xor(self, bitmap2: Any) -> Expression[Any]:
        return self._call("BITMAP_XOR", bitmap2)
