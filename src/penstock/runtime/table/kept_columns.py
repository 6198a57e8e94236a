"""Columns of rows kept by slot, for operators that give them out again later."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Integers
from penstock.runtime.table.aggregates.lanes import lane_of
from penstock.runtime.table.slots import SlotField, SlotTable


class KeptColumns:
    """One row of these types for each slot."""

    def __init__(self, types: Sequence[DataType]) -> None:
        self._lanes = [lane_of(kind) for kind in types]
        self.fields = [
            field
            for place, lane in enumerate(self._lanes)
            for field in (
                SlotField(f"column{place}", lane.dtype, lane.nothing),
                SlotField(f"column{place}.valid", np.bool_, True),
            )
        ]

    def write(self, table: SlotTable, slots: Integers, columns: Sequence[pa.Array]) -> None:
        for place, (lane, column) in enumerate(zip(self._lanes, columns, strict=True)):
            values, valid = lane.read(column)
            table.column(f"column{place}")[slots] = values
            table.column(f"column{place}.valid")[slots] = True if valid is None else valid

    def read(self, table: SlotTable, slots: Integers) -> list[pa.Array]:
        return [
            lane.write(table.column(f"column{place}")[slots], table.column(f"column{place}.valid")[slots])
            for place, lane in enumerate(self._lanes)
        ]

    def clear(self, table: SlotTable, slots: Integers) -> None:
        """What is not asked for any more needs no memory."""
        for field in self.fields:
            table.column(field.name)[slots] = field.initial
