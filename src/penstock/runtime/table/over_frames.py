"""The values of OVER calls for partitions that are there as a whole: each is sorted, and every call sees its frame.

A frame is a range of places in the sorted partition. Its ends never go back from row to row, so that aggregates take
in rows that come and take back rows that leave, as those of streams do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import as_array, constant
from penstock.columns.typed.nodes import Aggregate, Bound, Constant, InputRef, OverCall, SortKey, Typed
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.runtime.key_columns import Integers
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.aggregates.series_frames import SeriesFrames, series_function
from penstock.runtime.table.column_order import ranks_of
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotTable

_BY_PLACE = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"})


def aggregates_of(calls: Sequence[OverCall]) -> AggregateCalls:
    """The calls that are aggregates, whose functions of the user an operator opens and closes."""
    return AggregateCalls([one.call for one in calls if one.call.function not in _BY_PLACE], retracting=False)


class SortedPartitions:
    """The rows by partition and order; places are those in this order."""

    def __init__(self, columns: list[pa.Array], codes: Integers, keys: tuple[SortKey, ...]) -> None:
        ranks = ranks_of(columns, keys)
        self._columns, self._keys = columns, keys
        self.order: Integers = np.lexsort((*ranks, codes))
        self._codes = codes[self.order]
        count = len(self.order)
        self._places = np.arange(count)
        new = np.r_[True, self._codes[1:] != self._codes[:-1]]
        self._starts = np.flatnonzero(new)  # of the partitions
        self._start = self._starts[np.cumsum(new) - 1]
        self._end = np.searchsorted(self._codes, self._codes, side="right")
        differs = new.copy()
        for rank in ranks:
            ordered = rank[self.order]
            differs |= np.r_[True, ordered[1:] != ordered[:-1]]
        peer = np.cumsum(differs) - 1
        self._peer_start = np.flatnonzero(differs)[peer]
        self._peer_end = np.r_[np.flatnonzero(differs)[1:], count][peer]
        self._peer = peer

    def values(self, call: OverCall) -> pa.Array:
        """The value of each row, as the rows came."""
        function = call.call.function
        if function in ("lag", "lead"):
            found = self._shifted(call.call)
        elif function in _BY_PLACE:
            found = pa.array(self._numbers(call.call), to_arrow_type(call.data_type))
        elif series_function(call.call):
            arguments = [self._column(node) for node in call.call.arguments]
            found = SeriesFrames(call.call, arguments).in_partitions(self._starts, *self._frame(call))
        else:
            found = self._aggregated(call)
        back = np.empty(len(self.order), np.int64)
        back[self.order] = self._places
        return found.take(pa.array(back))

    def _numbers(self, call: Aggregate) -> Integers:
        place, size = self._places - self._start, self._end - self._start
        found: Integers
        match call.function:
            case "row_number":
                found = place + 1
            case "rank":
                found = self._peer_start - self._start + 1
            case "dense_rank":
                found = self._peer - self._peer[self._start] + 1
            case "percent_rank":
                found = (self._peer_start - self._start) / np.maximum(size - 1, 1)
            case "cume_dist":  # as in Flink, which counts the rows before and not all peers
                found = (place + 1) / size
            case _:  # ntile: the first buckets have one row more
                buckets = int(_constant(call.arguments[0]))
                small, larger = size // buckets, size % buckets
                in_larger = larger * (small + 1)
                later = larger + (place - in_larger) // np.maximum(small, 1)
                found = np.where(place < in_larger, place // (small + 1), later) + 1
        return found

    def _shifted(self, call: Aggregate) -> pa.Array:
        offset = int(_constant(call.arguments[1])) if len(call.arguments) > 1 else 1
        wanted = self._places + (offset if call.function == "lead" else -offset)
        there = (wanted >= self._start) & (wanted < self._end)
        column = self._column(call.arguments[0])
        found = column.take(pa.array(np.where(there, wanted, 0)))
        if len(call.arguments) > 2:
            default = self._column(call.arguments[2]).cast(found.type)
        else:
            default = pa.nulls(len(column), found.type)
        return pc.if_else(pa.array(there), found, default)

    def _column(self, node: Typed) -> pa.Array:
        if isinstance(node, InputRef):
            return self._columns[node.index].take(pa.array(self.order))
        assert isinstance(node, Constant)
        return as_array(constant(node.value, node.data_type), len(self.order))

    # -- frames --------------------------------------------------------------------------------------------------

    def _frame(self, call: OverCall) -> tuple[Integers, Integers]:
        """The first place of each row's frame, and the one after its last."""
        low = self._edge(call.lower, call.by_rows, False)
        high = self._edge(call.upper, call.by_rows, True)
        low, high = np.clip(low, self._start, self._end), np.clip(high, self._start, self._end)
        return low, np.maximum(low, high)

    def _edge(self, bound: Bound, by_rows: bool, end: bool) -> Integers:
        found: Integers
        if bound.kind == "unbounded":
            found = self._start if bound.before else self._end
        elif bound.kind == "current" and by_rows:
            found = self._places + int(end)
        elif bound.kind == "current":
            found = self._peer_end if end else self._peer_start
        else:
            amount = -bound.amount if bound.before else bound.amount
            found = self._places + int(amount) + int(end) if by_rows else self._distance(amount, end)
        return found

    def _distance(self, amount: int, end: bool) -> Integers:
        """RANGE: the rows whose sort key is not further away; nulls are near to nulls alone."""
        key = self._keys[0]
        column = self._column(key.operand)
        values = _as_numbers(column)
        sign = 1 if key.ascending else -1
        found: Integers = (self._peer_end if end else self._peer_start).copy()
        known = ~column.is_null().to_numpy(zero_copy_only=False)
        if not known.any():
            return found
        ticks = values[known] * sign
        # Codes and ticks grow together, so that one search finds the places of all partitions.
        unique = np.unique(np.concatenate([ticks, ticks + amount]))
        at, wanted = np.searchsorted(unique, ticks), np.searchsorted(unique, ticks + amount)
        width = len(unique) + 1
        codes = self._codes[known]
        inside = np.searchsorted(codes * width + at, codes * width + wanted, side="right" if end else "left")
        first, last = np.searchsorted(codes, codes, side="left"), np.searchsorted(codes, codes, side="right") - 1
        where = self._places[known]
        # The place after the last near row, or the place of the first one: between the nulls on both sides.
        before, after = where[np.maximum(inside - 1, 0)] + 1, where[np.minimum(inside, len(where) - 1)]
        if end:
            found[known] = np.where(inside > first, before, where[first])
        else:
            found[known] = np.where(inside <= last, after, where[last] + 1)
        return found

    def _aggregated(self, call: OverCall) -> pa.Array:
        low, high = self._frame(call)
        comes, goes = self._events(high), self._events(low)
        rows = np.concatenate([self._places[comes >= 0], self._places[goes >= 0]])
        moments = np.concatenate([comes[comes >= 0], goes[goes >= 0]])
        signs = np.repeat(np.array([1, -1], np.int8), [np.count_nonzero(comes >= 0), np.count_nonzero(goes >= 0)])
        sequence = np.lexsort((rows, -signs, moments))
        rows, moments, signs = rows[sequence], moments[sequence], signs[sequence]
        calls = AggregateCalls((call.call,), retracting=bool((signs < 0).any()))
        table = SlotTable(calls.fields, calls.maps)
        partitions, slots = np.unique(self._codes, return_inverse=True)
        placed = table.slots_of_column(pa.array(partitions))
        (nothing,) = calls.values(table, placed[:1])
        chosen = pa.array(self.order[rows])
        columns = [column.take(chosen) for column in self._columns]
        codes = slots[rows]
        runs = Runs.by_slot(codes, placed, np.ones(len(placed), np.bool_))
        (trail,) = calls.running(table, runs, columns, signs if (signs < 0).any() else None, len(rows))
        places = np.empty(len(rows), np.int64)
        places[runs.order] = np.arange(len(rows)) + len(runs.starts)
        last = np.searchsorted(moments, self._places, side="right") - 1
        seen = (last >= 0) & (self._codes[rows[np.maximum(last, 0)]] == self._codes) if len(rows) else last >= 0
        at = np.where(seen, places[np.maximum(last, 0)], 0) if len(rows) else np.zeros(len(last), np.int64)
        found = trail.values.take(pa.array(at)) if len(rows) else nothing.take(pa.array(at))
        return pc.if_else(pa.array(seen), found, nothing[0])

    def _events(self, edge: Integers) -> Integers:
        """For each row the first one of its partition whose edge is past it, or -1."""
        found = np.searchsorted(edge, self._places, side="right")
        events: Integers = np.where(found < self._end, found, -1)
        return events


def _as_numbers(column: pa.Array) -> Integers:
    """Sort keys of RANGE as numbers: moments in milliseconds."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("ms", kind.tz), safe=False).cast(pa.int64())
    elif pa.types.is_date(kind):
        column = pc.multiply(column.cast(pa.int32()).cast(pa.int64()), 86_400_000)
    elif pa.types.is_time(kind):
        column = pc.cast(column, pa.time32("ms"), safe=False).cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    return column.fill_null(0).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _constant(node: Typed) -> int:
    assert isinstance(node, Constant)
    value: int = node.value
    return value
