"""Finds out whether a user's function may be applied to parts of a window and the parts merged.

Sliding windows that share their parts (panes) rely on a law that Flink does not demand of a window's function:
adding a, b, c one by one equals merging what the first ones gave with what the others gave. Counts and integer sums
keep it; `lambda a, b: (a[0], a[1] + 1)`, sums of fractions (rounding) and a merge() that was never written do not.
So it is tried on real records before panes are used.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from penstock.functions.state_descriptors import ValueStateDescriptor
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.table import ValueTable


class MergeLaw:
    """Collects proofs until the function is trusted; one counterexample and it never is."""

    TABLE = "_merge_law"
    PROOFS_WANTED = 64
    _PROOFS, _BROKEN = "proofs", -1

    def __init__(self, backend: KeyedStateBackend, folding: Folding) -> None:
        self._table: ValueTable = backend.table(self.TABLE, ValueStateDescriptor)
        self._folding = folding

    @property
    def trusted(self) -> bool:
        return (self._table.get(self._PROOFS) or 0) >= self.PROOFS_WANTED

    @property
    def open(self) -> bool:
        return self._BROKEN < (self._table.get(self._PROOFS) or 0) < self.PROOFS_WANTED

    def examine(self, values: Sequence[Any]) -> None:
        """Tries the law on neighbours among the values."""
        proofs = self._table.get(self._PROOFS) or 0
        for position in range(0, len(values) - 2, 3):
            if proofs >= self.PROOFS_WANTED:
                break
            if not self._holds(values[position : position + 3]):
                proofs = self._BROKEN
                break
            proofs += 1
        self._table.put(self._PROOFS, proofs)

    def _holds(self, values: Sequence[Any]) -> bool:
        try:
            # Copies: a function may change in place what it is given.
            packed = pickle.dumps(list(values), 5)
            whole = self._fold(pickle.loads(packed))
            for cut in (1, 2):
                copies = pickle.loads(packed)
                merged = self._folding.merge(self._fold(copies[:cut]), self._fold(copies[cut:]))
                if type(merged) is not type(whole) or not (merged == whole or _same_content(merged, whole)):
                    return False
        except Exception:  # whatever it is: such a function is called only as Flink would call it
            return False
        return True

    def _fold(self, values: Sequence[Any]) -> Any:
        accumulator = self._folding.first(values[0])
        for value in values[1:]:
            accumulator = self._folding.add(value, accumulator)
        return accumulator


def _same_content(one: Any, other: Any) -> bool:
    return pickle.dumps(one, 5) == pickle.dumps(other, 5)
