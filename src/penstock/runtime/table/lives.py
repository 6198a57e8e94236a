"""Which rows of a changelog begin and end the life of a group: it lives while more rows were added than taken back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.runtime.key_columns import Integers
from penstock.runtime.table.runs import Mask, Runs, running_sum

Signs = npt.NDArray[np.int8]


class Lives(NamedTuple):
    """The rows of groups, cut where a group ended; rows that take back from nothing are in none of them."""

    runs: Runs
    records: Integers  # after each row, in the order of runs: how many rows the group has; 0 where it ended


def lives(runs: Runs, signs: Signs | None, begins: Integers) -> Lives:
    """`begins` has how many rows each run's group has before the batch."""
    sorted_signs = np.ones(len(runs.order), np.int64) if signs is None else signs[runs.order].astype(np.int64)
    records = running_sum(sorted_signs, begins, runs)
    lowest = np.minimum.reduceat(records, runs.starts)
    suspects = np.flatnonzero(lowest <= 0)
    if not len(suspects):
        return Lives(runs, records)
    return _cut(runs, sorted_signs, records, begins, suspects)


def _cut(runs: Runs, signs: Integers, records: Integers, begins: Integers, suspects: Integers) -> Lives:
    kept: Mask = np.ones(len(signs), np.bool_)
    first: Mask = np.zeros(len(signs), np.bool_)  # of a run
    reborn: Mask = np.zeros(len(signs), np.bool_)
    first[runs.starts] = True
    for run in suspects.tolist():
        start, count = int(runs.starts[run]), int(runs.counts[run])
        alive, begun = int(begins[run]), False
        first[start] = False
        for place, sign in enumerate(signs[start : start + count].tolist(), start):
            if alive == 0 and sign < 0:
                kept[place] = False
                continue
            if not begun or alive == 0:
                first[place] = True
                reborn[place] = alive == 0
                begun = True
            alive += sign
            records[place] = alive
    places = np.flatnonzero(kept)
    starts_at = np.flatnonzero(first[places])
    run_of = runs.run_of_row[places[starts_at]]
    fresh = reborn[places[starts_at]] | (runs.fresh[run_of] & (places[starts_at] == runs.starts[run_of]))
    counts = np.diff(np.append(starts_at, len(places)))
    return Lives(Runs(runs.order[places], starts_at, counts, runs.slots[run_of], fresh), records[places])
