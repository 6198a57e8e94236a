"""Finds the keys of a batch, as a column where one holds them exactly as they are declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.functions.field_key import FieldKey
from penstock.runtime.batch import Batch
from penstock.runtime.coercion import coercer
from penstock.runtime.key_columns import integer_column, key_column_from, largest_integer_key, tuple_column
from penstock.runtime.keys import DeclaredKeys


class KeySelection:
    """A key selector and the declared type of its keys."""

    def __init__(self, selector: Any, key_type: TypeInformation | None) -> None:
        self._fields: Sequence[int] | None = None
        self._key_of = selector.get_key
        self._column_of = getattr(selector, "key_column_of", None)
        if isinstance(selector, FieldKey):
            self._fields, self._key_of = selector.positions, selector.getter
        self._key_type = key_type
        self._largest_integer = largest_integer_key(key_type)
        coerce = None if key_type is None else coercer(key_type)
        self._declared = None if coerce is None else DeclaredKeys(coerce)

    def keys_of(self, batch: Batch) -> pa.Array | list[Any]:
        """A column of keys as they are declared; else a list of them as they were selected."""
        if self._column_of is not None:
            found: pa.Array = self._column_of(batch)
            return found
        keys = None
        if self._fields is not None and batch.exact_columns is not None:
            column = self._column_of_fields(batch)
            if column is not None:
                return column
            keys = self._values_of_fields(batch)
        if keys is None:
            keys = list(map(self._key_of, batch.values))
        column = None if self._largest_integer is None else integer_column(keys, self._largest_integer)
        return keys if column is None else column

    def declared(self, keys: list[Any]) -> list[Any]:
        """Selected keys as their declared type wants them."""
        return keys if self._declared is None else list(map(self._declared.__getitem__, keys))

    def _column_of_fields(self, batch: Batch) -> pa.Array | None:
        assert self._fields is not None and batch.codec is not None
        if self._key_type is not None and self._key_type != _type_of_fields(batch.codec.type_info, self._fields):
            return None
        columns = [key_column_from(batch.field(position)) for position in self._fields]
        return columns[0] if len(columns) == 1 else tuple_column(columns)

    def _values_of_fields(self, batch: Batch) -> list[Any] | None:
        """The keys as objects, without making the records."""
        assert self._fields is not None and batch.codec is not None
        lists = [batch.codec.field_values(batch.columns, position) for position in self._fields]
        found = [part for part in lists if part is not None]
        if len(found) < len(lists):
            return None
        return found[0] if len(found) == 1 else list(zip(*found, strict=True))


def _type_of_fields(record_type: TypeInformation, positions: Sequence[int]) -> TypeInformation | None:
    if not isinstance(record_type, (RowTypeInfo, TupleTypeInfo)):
        return None
    types = record_type.get_field_types()
    chosen = [types[position] for position in positions]
    return chosen[0] if len(chosen) == 1 else TupleTypeInfo(chosen)
