"""Slot tables among the keyed state of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.functions.state_descriptors import ValueStateDescriptor
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.base import Operator
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state.table import ValueTable
from penstock.runtime.table.slot_maps import MapShape
from penstock.runtime.table.slots import SlotField, SlotTable


def slot_table(
    operator: Operator,
    name: str,
    fields: Sequence[SlotField],
    maps: Sequence[MapShape] = (),
    layout: KeyLayout = KeyLayout.KEY,
) -> SlotTable:
    """A slot table among the keyed state of an operator, so that it is saved, restored and rescaled with it."""

    def make(disk: DiskTables | None) -> SlotTable:
        rows: Any = None if disk is None else disk.make(ValueTable, name, layout)
        return SlotTable(fields, maps, rows)

    table: SlotTable = operator.memory.keyed.table(name, ValueStateDescriptor, make)
    return table
