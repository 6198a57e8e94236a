"""The rows that are left when a changelog has ended, as a DataFrame."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.columns.typesystem.scalars import LocalZonedTimestampType
from penstock.runtime.batch import KIND
from penstock.table.table_result import TableResult

if TYPE_CHECKING:
    import pandas


def final_frame(result: TableResult, zone: str) -> pandas.DataFrame:
    table = result.to_arrow()
    if KIND in table.column_names:
        table = _without_retracted(table)
    for place, field in enumerate(result._fields):
        if isinstance(field.data_type, LocalZonedTimestampType):
            column = table.column(place)
            zoned = column.cast(pa.timestamp(column.type.unit, "UTC")).cast(pa.timestamp(column.type.unit, zone))
            table = table.set_column(place, table.column_names[place], zoned)
    return table.to_pandas()


def _without_retracted(table: pa.Table) -> pa.Table:
    """Each row that takes another back removes one equal row before it."""
    kinds = table.column(KIND).to_pylist()
    rows = [_frozen(row) for row in table.drop_columns([KIND]).to_pylist()]
    gone: Counter[Any] = Counter()
    kept = []
    for place in range(len(rows) - 1, -1, -1):
        if kinds[place] in (1, 3):
            gone[rows[place]] += 1
        elif gone[rows[place]]:
            gone[rows[place]] -= 1
        else:
            kept.append(place)
    return table.drop_columns([KIND]).take(pa.array(kept[::-1], pa.int64()))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _frozen(item)) for key, item in value.items())
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
