"""Windows of SQL in time: the slices that they are made of, the clock by which they are cut, and when they are over.

Windows of TIMESTAMP_LTZ follow the wall clock of the session's zone: a day begins at its midnight. Columns and
watermarks are moments; only the cutting happens on the wall clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.time_zone import to_instant, to_local
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.scalars import LocalZonedTimestampType
from penstock.runtime.batch import Integers
from penstock.runtime.windows.slices import CumulativeSlices, SliceNumbers, Slices, SlidingSlices, Span

PROPERTIES = ("start", "end", "time")


@dataclass(frozen=True)
class WindowParams:
    """kind is TUMBLE, HOP, CUMULATE or SESSION; of SESSION the size is the gap.

    Rows come with their time in `time_column`, or, where windows were assigned further up, with these in the columns
    `attached` for start and end. `zone` is that of a wall clock, None where times are wall clock times already.
    """

    kind: str
    size: int
    slide: int | None = None
    offset: int = 0
    time_column: int = 0
    attached: tuple[int, int] | None = None
    zone: str | None = None
    event_time: bool = True


def slices_of(params: WindowParams) -> Slices:
    if params.kind == "CUMULATE":
        return CumulativeSlices(params.size, params.slide or params.size, params.offset)
    return SlidingSlices(params.size, params.slide or params.size, params.offset)


class WindowClock:
    """Between moments and the wall clock by which windows are cut."""

    def __init__(self, zone: str | None) -> None:
        self._zone = zone

    def wall(self, moments: Integers) -> Integers:
        return moments if self._zone is None else to_local(moments, "ms", self._zone)

    def moments(self, wall: Integers) -> Integers:
        return wall if self._zone is None else to_instant(wall, "ms", self._zone)

    def over(self, end: int) -> int:
        """The moment at which a window with this end is complete."""
        return int(self.moments(np.array([end - 1], np.int64))[0])


def millis(column: pa.Array, missing: int = 0) -> Integers:
    """Moments in milliseconds."""
    whole = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    filled = whole.fill_null(missing) if whole.null_count else whole
    numbers: Integers = filled.to_numpy(zero_copy_only=False)
    return numbers


def stamps(ticks: Integers) -> pa.Array:
    return pa.array(ticks, pa.int64()).view(pa.timestamp("ms"))


def property_columns(starts: Integers, ends: Integers, clock: WindowClock, zoned: bool) -> dict[str, pa.Array]:
    """window_start and window_end by the wall clock, window_time as the last moment of the window."""
    last = clock.moments(ends - 1) if zoned else ends - 1
    return {"start": stamps(starts), "end": stamps(ends), "time": stamps(last)}


def is_zoned(data_type: DataType) -> bool:
    return isinstance(data_type, LocalZonedTimestampType)


def assigned(times: Integers, params: WindowParams) -> tuple[Integers, Integers, Integers]:
    """For each row and each of its windows: the row's position, and start and end of the window."""
    slices = slices_of(params)
    numbers = SliceNumbers(slices)
    found = numbers.all_of(times)
    assert found is not None
    distinct, codes = np.unique(found, return_inverse=True)
    windows: list[list[Span]] = [slices.windows(numbers.start(number)) for number in distinct.tolist()]
    counts = np.array([len(one) for one in windows], np.int64)
    firsts = np.cumsum(counts) - counts
    spans = np.array([span for one in windows for span in one], np.int64).reshape(-1, 2)
    per_row = counts[codes]
    positions = np.repeat(np.arange(len(times)), per_row)
    nth = np.arange(len(positions)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    chosen = spans[firsts[codes][positions] + nth]
    return positions, chosen[:, 0], chosen[:, 1]
