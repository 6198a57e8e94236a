"""ORDER BY on whole columns: numbers that are in the order which the keys ask for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.typed.nodes import InputRef, SortKey
from penstock.runtime.key_columns import Integers


def ranks_of(columns: Sequence[pa.Array], keys: Sequence[SortKey]) -> list[Integers]:
    """For each key, the last one first as np.lexsort() wants them, the rank of each row."""
    found = []
    for key in reversed(keys):
        assert isinstance(key.operand, InputRef), "the plan computes what is sorted by"
        found.append(_ranks(columns[key.operand.index], key))
    return found


def _ranks(column: pa.Array, key: SortKey) -> Integers:
    encoded = column.dictionary_encode()
    values = len(encoded.dictionary)
    by_value = np.empty(values, np.int64)
    by_value[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(values)
    ranks = by_value[encoded.indices.fill_null(0).to_numpy()] if values else np.zeros(len(column), np.int64)
    if not key.ascending:
        ranks = -ranks
    nulls = column.is_null().to_numpy(zero_copy_only=False)
    return np.where(nulls, -values - 1 if key.nulls_first else values + 1, ranks)
