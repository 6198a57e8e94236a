"""The parts of texts between separators, found in the bytes of a whole column at once."""

from __future__ import annotations

import weakref

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.text_buffers import text_bytes

_Ints = npt.NDArray[np.int64]


class _Separators:
    """Where a character stands in a column, and how many of them stand before each text."""

    def __init__(self, texts: pa.Array, separator: bytes) -> None:
        self.texts, self.separator = weakref.ref(texts), separator
        self.ends, self.content = text_bytes(texts)
        inside = self.content[self.ends[0] : self.ends[-1]]
        self.places: _Ints = np.flatnonzero(inside == ord(separator)) + int(self.ends[0])
        self.before: _Ints = np.searchsorted(self.places, self.ends)


_last: _Separators | None = None


def _separators_of(texts: pa.Array, separator: bytes) -> _Separators:
    """Who asks for one part of a text mostly asks for others, too: the last answer is kept as long as its column."""
    global _last
    found = _last
    if found is None or found.texts() is not texts or found.separator != separator:
        found = _last = _Separators(texts, separator)
    return found


def part_of_texts(texts: pa.Array, separator: bytes, index: int) -> pa.Array:
    """The part after `index` separators (one ASCII character); null where there are fewer, or the text is empty."""
    known = _separators_of(texts, separator)
    ends, places = known.ends.astype(np.int64), known.places
    first = known.before[:-1] + index  # the separator that ends the part
    there = (first <= known.before[1:]) & (ends[1:] > ends[:-1])
    if texts.null_count:
        there &= pc.is_valid(texts).to_numpy(zero_copy_only=False)
    bounded = np.append(places, 0)  # so that every row may look; only those that have one use what they see
    starts = ends[:-1] if index == 0 else bounded[np.minimum(first - 1, len(places))] + 1
    stops = np.where(first < known.before[1:], bounded[np.minimum(first, len(places))], ends[1:])
    lengths = np.where(there, stops - starts, 0)
    new_ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths, out=new_ends[1:])
    taken = np.repeat(starts - new_ends[:-1], lengths) + np.arange(new_ends[-1])
    missing = None if there.all() else pa.array(there).buffers()[1]
    buffers = [missing, pa.py_buffer(new_ends.astype(np.int32)), pa.py_buffer(known.content[taken])]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)
