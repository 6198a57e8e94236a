"""What an aggregate function is to an operator: state by slot, fed with rows, asked for values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.key_columns import Integers
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slot_maps import MapShape
from penstock.runtime.table.slots import SlotField, SlotTable

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class CallRows:
    """The arguments of a call for the rows of a batch, in the batch's order.

    A sign is 1 for a row that is added, -1 for one that is taken back, 0 for one that the call does not see. None: all
    rows are added.
    """

    arguments: Sequence[pa.Array]
    signs: Signs | None
    count: int

    def signs_in(self, runs: Runs) -> Signs | None:
        return None if self.signs is None else self.signs[runs.order]


class Running(NamedTuple):
    """Values before each run, and after these the values after each row, in the order of runs.

    `versions` differ when the value counts as changed; None: when the values differ. Flink computes variances from sums
    and a count, which change also where the variance does not.
    """

    values: pa.Array
    versions: pa.Array | None = None


class AggregateFunction(Protocol):
    """One call of an aggregate function. Its fields are in a slot table that it shares with others."""

    @property
    def fields(self) -> Sequence[SlotField]: ...

    @property
    def maps(self) -> Sequence[MapShape]:
        """Maps by slot."""

    def running(self, table: SlotTable, runs: Runs, rows: CallRows) -> Running:
        """Takes the rows in, and tells the values on the way."""

    def accumulate(self, table: SlotTable, runs: Runs, rows: CallRows) -> None:
        """Takes the rows in; nobody asks for values in between."""

    def value(self, table: SlotTable, slots: Integers) -> pa.Array:
        """The values of slots."""

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        """Adds what other slots have taken in; each slot is named at most once in `into`."""
