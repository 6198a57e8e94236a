"""Time to live of slots: keys that were not written for some time are forgotten."""

from __future__ import annotations

import numpy as np

from penstock.runtime.clock import Clock
from penstock.runtime.key_columns import Integers
from penstock.runtime.table.slots import SlotField, SlotTable

_TOUCHED = "touched"


class Expiry:
    """Without a time to live it does nothing, and needs no field."""

    def __init__(self, ttl: int | None, clock: Clock) -> None:
        self._ttl = ttl
        self._clock = clock
        self._next_sweep = 0
        self.fields = [] if ttl is None else [SlotField(_TOUCHED, np.int64, 0)]

    def touch(self, table: SlotTable, slots: Integers) -> None:
        """The keys at these slots were written now."""
        if self._ttl is not None:
            table.column(_TOUCHED)[slots] = self._clock()

    def forget(self, table: SlotTable, slots: Integers) -> None:
        """Removes those of some slots whose time is over."""
        if self._ttl is not None:
            due = slots[table.alive[slots]]
            due = due[table.column(_TOUCHED)[due] <= self._clock() - self._ttl]
            if len(due):
                table.remove_slots(due)

    def sweep(self, table: SlotTable) -> None:
        """Now and then over all slots."""
        if self._ttl is not None and self._clock() >= self._next_sweep:
            self._next_sweep = self._clock() + self._ttl // 2
            self.forget(table, table.all_slots())
