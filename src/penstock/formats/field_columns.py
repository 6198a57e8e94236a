"""The columns of a batch in the order in which a format writes its fields."""

from __future__ import annotations

import pyarrow as pa

from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.runtime.batch import Batch


def field_columns(batch: Batch, names: list[str], types: list[TypeInformation]) -> list[pa.Array] | None:
    """As `field_values` finds the fields of one record; None when records have to be asked one by one."""
    declared = None if batch.codec is None else batch.codec.type_info
    if not isinstance(declared, (RowTypeInfo, TupleTypeInfo)):
        return None
    there = declared.get_field_names() if isinstance(declared, RowTypeInfo) else []
    by_name, found = set(names) <= set(there), declared.get_field_types()
    if not by_name and len(found) != len(names):
        return None
    positions = [there.index(name) for name in names] if by_name else range(len(names))
    if [found[position] for position in positions] != types:
        return None
    columns = [batch.field(position) for position in positions]
    return None if any(column is None for column in columns) else columns
