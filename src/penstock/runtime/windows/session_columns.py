"""Open sessions of built-in aggregations in columns: pieces that are joined when somebody has to know.

A batch becomes pieces: the records of a key with no gap between them, folded into one row. Which session a piece is
part of does not matter before the watermark reaches the end of some piece of its key; then the pieces of such keys are
joined, and what is over fires. No record touches a dictionary, and a watermark only keys that have something due.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.runtime.batch import Integers
from penstock.runtime.intervals import Intervals
from penstock.runtime.key_columns import numbered
from penstock.runtime.windows.column_folding import ColumnFolding, Part, keys_in, orders_in

_MANY = 1 << 15  # pieces that wait to be joined, in any case


class Pieces(NamedTuple):
    """Accumulators, and from when to when each reaches."""

    part: Part
    starts: Integers
    ends: Integers

    def take(self, places: Integers) -> Pieces:
        return Pieces(self.part.take(pa.array(places)), self.starts[places], self.ends[places])

    def filter(self, mask: npt.NDArray[np.bool_]) -> Pieces:
        return self if mask.all() else self.take(np.flatnonzero(mask))

    @staticmethod
    def concat(pieces: list[Pieces]) -> Pieces:
        if len(pieces) == 1:
            return pieces[0]
        parts, starts, ends = zip(*pieces, strict=True)
        return Pieces(pa.concat_batches(parts), np.concatenate(starts), np.concatenate(ends))


class CannotFold(Exception):
    """Columns would not hold the result exactly; nothing was changed."""


class SessionColumns:
    """All open sessions of an operator, as pieces."""

    def __init__(self, folding: ColumnFolding) -> None:
        self._folding = folding
        self._joined: Pieces | None = None  # one piece for each session among them
        self._waiting: list[Pieces] = []
        self._earliest: int | None = None  # no piece ends before
        self._touched: dict[pa.DataType, list[pa.Array]] = {}  # keys, since the last snapshot

    def __len__(self) -> int:
        return sum(len(pieces.starts) for pieces in self._all())

    def _all(self) -> list[Pieces]:
        return self._waiting if self._joined is None else [self._joined, *self._waiting]

    def fits(self, part: Part) -> bool:
        return all(pieces.part.schema == part.schema for pieces in self._all()[:1])

    # -- records -----------------------------------------------------------------------------------------------

    def add(self, part: Part, times: Integers, gap: int) -> None:
        """Records, each of which begins or extends an open session."""
        codes, _ = numbered(keys_in(part))
        order = np.lexsort((times, codes))
        sorted_codes, sorted_times = codes[order], times[order]
        apart = (sorted_codes[1:] != sorted_codes[:-1]) | (sorted_times[1:] - sorted_times[:-1] > gap)
        firsts, lasts = np.flatnonzero(np.r_[True, apart]), np.flatnonzero(np.r_[apart, True])
        of_row = np.empty(len(times), np.int64)
        of_row[order] = np.repeat(np.arange(len(firsts)), lasts - firsts + 1)
        folded = self._folded(part, of_row, len(firsts))
        self.put(Pieces(folded, sorted_times[firsts], sorted_times[lasts] + gap))

    def put(self, pieces: Pieces) -> None:
        if not len(pieces.starts):
            return
        self._waiting.append(pieces)
        self._touch(pieces)
        earliest = int(pieces.ends.min())
        self._earliest = earliest if self._earliest is None else min(earliest, self._earliest)

    def settle(self) -> None:
        """Keeps the pieces fewer than twice the sessions, or few."""
        joined = 0 if self._joined is None else len(self._joined.starts)
        if len(self) - joined > max(_MANY, joined):
            self.join_all()

    def _touch(self, pieces: Pieces) -> None:
        keys = keys_in(pieces.part)
        self._touched.setdefault(keys.type, []).append(keys)

    def _folded(self, part: Part, codes: Integers, count: int) -> Part:
        folded = self._folding.fold_by(part, codes, count)
        if folded is None:
            raise CannotFold
        return folded

    def join_all(self) -> None:
        if self._waiting:
            self._joined, self._waiting = self._join(Pieces.concat(self._all())), []

    def _join(self, pieces: Pieces) -> Pieces:
        if not len(pieces.starts):
            return pieces
        codes, _ = numbered(keys_in(pieces.part))
        part_of, joined = Intervals(codes.astype(np.int64), pieces.starts, pieces.ends).joined()
        return Pieces(self._folded(pieces.part, part_of, len(joined.keys)), joined.starts, joined.ends)

    def takes_late(self, key: pa.Array, time: int, gap: int) -> bool:
        """Whether a record that is late by itself touches an open session."""
        mine, _ = self._of_keys(key)
        return mine is not None and bool(((mine.starts <= time + gap) & (mine.ends >= time)).any())

    # -- time --------------------------------------------------------------------------------------------------

    def take_due(self, watermark: int) -> Pieces | None:
        """Removes the sessions that are over by now, and returns them in order of their ends."""
        if self._earliest is None or self._earliest - 1 > watermark:
            return None
        due = [keys_in(pieces.part).filter(pa.array(pieces.ends - 1 <= watermark)) for pieces in self._all()]
        mine, others = self._of_keys(pa.concat_arrays(due))
        assert mine is not None
        found = self._join(mine)
        over = found.ends - 1 <= watermark
        self._joined, self._waiting = (others[0], others[1:]) if self._joined is not None else (None, others)
        left = found.filter(~over)
        self._waiting = [pieces for pieces in [*self._waiting, left] if len(pieces.starts)]
        if self._joined is not None and not len(self._joined.starts):
            self._joined = None
        self._earliest = min((int(pieces.ends.min()) for pieces in self._all()), default=None)
        fired = found.take(np.flatnonzero(over))
        self._touch(fired)
        return fired.take(np.lexsort((orders_in(fired.part), fired.ends)))

    def _of_keys(self, keys: pa.Array) -> tuple[Pieces | None, list[Pieces]]:
        """The pieces of some keys, and those of the others."""
        mine, others = [], []
        for pieces in self._all():
            inside = _inside(keys_in(pieces.part), keys)
            mine.append(pieces.take(np.flatnonzero(inside)))
            others.append(pieces.filter(~inside))
        return (Pieces.concat(mine) if mine else None), others

    # -- snapshots ---------------------------------------------------------------------------------------------

    def take_delta(self) -> tuple[list[pa.Array], Pieces | None] | None:
        """The keys that changed, of each type by themselves, and their sessions."""
        if not self._touched:
            return None
        self.join_all()
        touched, self._touched = self._touched, {}
        keys = [numbered(pa.concat_arrays(columns)).distinct for columns in touched.values()]
        mine = [found for found in (self._of_keys(column)[0] for column in keys) if found is not None]
        some = [found for found in mine if len(found.starts)]
        return keys, some[0] if some else None  # sessions have keys of one type

    def full_delta(self) -> Pieces | None:
        self.join_all()
        return self._joined

    def apply_delta(self, changed: list[pa.Array], pieces: Pieces | None) -> None:
        for keys in changed:
            _, others = self._of_keys(keys)
            self._joined, self._waiting = None, [part for part in others if len(part.starts)]
        if pieces is not None:
            self._waiting.append(pieces)
        ends = [int(part.ends.min()) for part in self._all() if len(part.ends)]
        self._earliest = min(ends, default=None)

    def clear(self) -> None:
        """All sessions are kept elsewhere from now on."""
        for pieces in self._all():
            self._touch(pieces)
        self._joined, self._waiting, self._earliest = None, [], None

    def rows(self) -> Iterator[tuple[Any, int, int, Any]]:
        """Key, start, end and accumulator of every piece."""
        for pieces in self._all():
            entries = self._folding.entries(pieces.part)
            for (key, accumulator), start, end in zip(
                entries, pieces.starts.tolist(), pieces.ends.tolist(), strict=True
            ):
                yield key, start, end, accumulator


def _inside(column: pa.Array, keys: pa.Array) -> npt.NDArray[np.bool_]:
    if column.type != keys.type:
        return np.zeros(len(column), np.bool_)
    if not pa.types.is_struct(column.type):
        return pc.is_in(column, value_set=keys).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    codes, distinct = numbered(pa.concat_arrays([keys, column]))
    wanted = np.zeros(len(distinct), np.bool_)
    wanted[codes[: len(keys)]] = True
    return wanted[codes[len(keys) :]]
