"""Numbers for the keys of a column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.runtime.key_columns import Integers, numbered
from penstock.runtime.key_index import KeyIndex, index_for


class KeySlots:
    """Numbers for keys; 0 is that of NULL."""

    def __init__(self) -> None:
        self._index: KeyIndex | None = None
        self._null_known = False

    def __len__(self) -> int:
        return 1 + (0 if self._index is None else len(self._index))

    def find(self, keys: pa.Array, add: bool = False) -> Integers:
        """The number of each key; -1 for one that is not there, unless it is added."""
        if self._index is None:
            self._index = index_for(keys.type)
        if keys.null_count and not pa.types.is_struct(keys.type):
            self._null_known |= add
            valid = keys.is_valid().to_numpy(zero_copy_only=False)
            slots = np.full(len(keys), 0 if self._null_known else -1, np.int64)
            slots[valid] = self._find(self._index, keys.drop_null(), add)
            return slots
        return self._find(self._index, keys, add)

    def _find(self, index: KeyIndex, keys: pa.Array, add: bool) -> Integers:
        found = index.find(keys)
        missing = np.flatnonzero(found < 0)
        if add and len(missing):
            wanted = keys.take(pa.array(missing))
            index.add(numbered(wanted).distinct)
            found[missing] = index.find(wanted)
        return np.where(found < 0, -1, found + 1)
