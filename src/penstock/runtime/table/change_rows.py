"""Makes the rows of a changelog from what each row of a batch did: nothing, an insertion, an update or a deletion."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.runtime.batch import Kinds
from penstock.runtime.key_columns import Integers

INSERT, BEFORE, AFTER, DELETE = 0, 1, 2, 3  # the numbers of RowKind
Signs = npt.NDArray[np.int8]
_NO_ROWS: Final = np.zeros(0, np.int64)


def signs_of(kinds: Kinds | None) -> Signs | None:
    """1 for rows that are added, -1 for those that are taken back; None: all are added."""
    if kinds is None:
        return None
    taken_back = (kinds == BEFORE) | (kinds == DELETE)
    return np.where(taken_back, np.int8(-1), np.int8(1)) if taken_back.any() else None


class ChangeRows(NamedTuple):
    """For each row to emit: the row of the batch that caused it, which version it shows, and its kind."""

    causes: Integers
    versions: Integers
    kinds: Kinds | None


def change_rows(
    inserts: npt.NDArray[np.bool_],
    updates: npt.NDArray[np.bool_],
    deletes: npt.NDArray[np.bool_],
    old: Integers,
    new: Integers,
    before: bool,
) -> ChangeRows:
    """By row of the batch: what it did, and the versions before and after it. `before`: updates show both."""
    counts = (inserts | updates | deletes).astype(np.int64)
    if before:
        counts += updates
    total = int(counts.sum())
    if not total:
        return ChangeRows(_NO_ROWS, _NO_ROWS, None)
    ends = np.cumsum(counts)
    lasts = ends - 1
    versions, kinds = np.empty(total, np.int64), np.zeros(total, np.int8)
    versions[lasts[inserts]] = new[inserts]
    versions[lasts[deletes]] = old[deletes]
    kinds[lasts[deletes]] = DELETE
    versions[lasts[updates]] = new[updates]
    kinds[lasts[updates]] = AFTER
    if before:
        versions[lasts[updates] - 1] = old[updates]
        kinds[lasts[updates] - 1] = BEFORE
    causes = np.repeat(np.arange(len(counts)), counts)
    return ChangeRows(causes, versions, kinds if kinds.any() else None)


def differ(one: pa.Array, other: pa.Array) -> npt.NDArray[np.bool_]:
    """Where two columns have different values; a null differs from every value."""
    if pa.types.is_nested(one.type):
        pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
        return np.fromiter((a != b for a, b in pairs), np.bool_, len(one))
    unequal = pc.not_equal(one, other)
    if unequal.null_count == 0:
        return unequal.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    nulls = pc.xor(pc.is_null(one), pc.is_null(other))
    return pc.fill_null(unequal, False).to_numpy(zero_copy_only=False) | nulls.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
