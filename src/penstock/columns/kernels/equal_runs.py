"""Streams come in the order of time: equal moments lie together, and what is made of them is made once for each run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

_FEW = 256  # rows for which it does not pay
_SHORT = 2  # rows of a run, on average, for which it does not pay


def by_runs(column: pa.Array, compute: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """`compute(column)`, where each row of the result depends on its own row only; moments or whole numbers."""
    count = len(column)
    if count < _FEW or column.null_count:
        return compute(column)
    numbers = column.view(f"int{column.type.bit_width}").to_numpy(zero_copy_only=False)
    begins = np.empty(count, np.bool_)
    begins[0] = True
    np.not_equal(numbers[1:], numbers[:-1], out=begins[1:])
    if np.count_nonzero(begins) * _SHORT > count:
        return compute(column)
    found = compute(column.take(pa.array(np.flatnonzero(begins))))
    return found.take(pa.array(np.cumsum(begins) - 1))
