"""OVER of a stream by other columns than time: every row that comes or goes may change those that follow it.

A row is a step of its partition. The partitions as they are after each step of a batch are computed side by side, as
if they were different ones, and what differs from one step to the next is the changelog. So the state are rows alone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import InputRef, OverCall
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, numbered
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.change_rows import AFTER, BEFORE, DELETE, INSERT, differ
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.column_order import ranks_of
from penstock.runtime.table.keys import RowKey, key_column
from penstock.runtime.table.over_frames import SortedPartitions, aggregates_of
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_store import row_store
from penstock.runtime.table.row_type import TableRowType

_TOUCHED = "touched"
_MANY = 1 << 19  # rows of all steps together; a batch that makes more is cut


@dataclass(frozen=True)
class SortedOverParams:
    """Calls of one window; arguments and sort keys are columns of the input. `before`: updates show both rows."""

    input_type: TableRowType
    keys: tuple[int, ...]
    calls: tuple[OverCall, ...]
    before: bool = True
    ttl: int | None = None  # milliseconds after which a partition that saw no row is forgotten


@dataclass
class _Lives:
    """The rows of some partitions during a batch: each is there from the step `born` up to the step `dies`."""

    columns: list[pa.Array]
    partition: Integers
    born: Integers
    dies: Integers
    numbers: Integers  # in the store


class SortedOverOperator(AggregatingOperator):
    """The columns of each row, and after them the values of the calls."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: SortedOverParams = blueprint.params["over"]
        self._params = params
        self._input, self._output = TableCodec(params.input_type), TableCodec(blueprint.output_type)
        self._calls = aggregates_of(params.calls)
        self._key = RowKey(params.input_type, params.keys)
        self._order = params.calls[0].order_by
        read = {node.index for call in params.calls for node in _read(call)}
        self._read = [place in read for place in range(len(self._input.schema))]
        notes = (_TOUCHED,) if params.ttl else ()
        self._rows = row_store(self, "_rows", self._input.schema, self._key_column, notes)
        self._chains = RowChains(self._rows)
        self._next_sweep = 0

    def _key_column(self, columns: pa.RecordBatch) -> pa.Array:
        return self._key.key_column_of(self._input.batch(list(columns.columns), rows=columns.num_rows))

    def loaded(self) -> None:
        self._chains.rebuild()

    # -- rows --------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        columns = pa.RecordBatch.from_arrays(self._input.arrays(batch), schema=self._input.schema)
        kinds = np.zeros(len(batch), np.int8) if batch.kinds is None else np.asarray(batch.kinds, np.int8)
        self._take(columns, kinds)

    def _take(self, columns: pa.RecordBatch, kinds: Any) -> None:
        keys = self._key_column(columns)
        codes = numbered(keys).codes.astype(np.int64)
        partitions, first, per_partition = np.unique(codes, return_index=True, return_counts=True)
        found, numbers = self._chains.find(keys.take(pa.array(first)))
        if self._params.ttl:
            fresh = self._rows.note(_TOUCHED)[numbers] > self.context.clock() - self._params.ttl
            self._rows.delete(numbers[~fresh])
            found, numbers = found[fresh], numbers[fresh]
        rows = np.bincount(found, minlength=len(partitions)) + per_partition
        if len(kinds) > 1 and int((rows * (per_partition + 1)).sum()) > _MANY:
            half = len(kinds) // 2
            self._take(columns.slice(0, half), kinds[:half])
            self._take(columns.slice(half), kinds[half:])
            return
        partition = np.searchsorted(partitions, codes)
        steps = _steps(partition)
        lives = self._lives(columns, keys, kinds, partition, steps, found, numbers)
        self._emit(lives, kinds, partition, steps, per_partition)
        gone = lives.dies <= per_partition[lives.partition]
        self._rows.delete(lives.numbers[gone])
        if self._params.ttl:
            kept = lives.numbers[~gone]
            self._rows.set_note(_TOUCHED, kept, np.full(len(kept), self.context.clock()))
        if self._rows.compact():
            self._chains.rebuild()

    def _lives(
        self,
        columns: pa.RecordBatch,
        keys: pa.Array,
        kinds: Any,
        partition: Integers,
        steps: Integers,
        found: Integers,
        numbers: Integers,
    ) -> _Lives:
        """The rows that are there, then those that come; rows that go end the life of the oldest equal one."""
        comes = (kinds == INSERT) | (kinds == AFTER)
        mask = pa.array(comes)
        added = columns.filter(mask)
        new = self._rows.append(added)
        self._chains.add(keys.filter(mask), new)
        both = pa.Table.from_batches([self._rows.batch(numbers), added]).combine_chunks()
        arrays = [column.chunk(0) if column.num_chunks else pa.nulls(0, column.type) for column in both.columns]
        born = np.concatenate([np.zeros(len(numbers), np.int64), steps[comes]])
        dies = np.full(len(born), np.iinfo(np.int64).max)
        if not comes.all():
            known = np.concatenate([np.zeros(len(numbers), np.int64), np.flatnonzero(comes)])
            self._end_lives(arrays, columns, ~comes, steps, known, len(numbers), dies)
        return _Lives(arrays, np.concatenate([found, partition[comes]]), born, dies, np.concatenate([numbers, new]))

    def _end_lives(
        self,
        arrays: list[pa.Array],
        columns: pa.RecordBatch,
        goes: Any,
        steps: Integers,
        known: Integers,
        old: int,
        dies: Integers,
    ) -> None:
        going = np.flatnonzero(goes)
        chosen = pa.array(going)
        together = [
            pa.concat_arrays([one, other.take(chosen)]) for one, other in zip(arrays, columns.columns, strict=True)
        ]
        codes = numbered(key_column(together, self._params.input_type.types, len(together[0]))).codes.tolist()
        waiting: dict[int, deque[int]] = defaultdict(deque)
        for row in range(old):
            waiting[codes[row]].append(row)
        row = old
        for place, at in enumerate(going.tolist()):
            while row < len(known) and known[row] < at:
                waiting[codes[row]].append(row)
                row += 1
            equal = waiting[codes[len(known) + place]]
            if equal:
                dies[equal.popleft()] = steps[at]

    # -- values ------------------------------------------------------------------------------------------------

    def _emit(self, lives: _Lives, kinds: Any, partition: Integers, steps: Integers, per_partition: Integers) -> None:
        count = len(lives.born)
        last = np.minimum(lives.dies, per_partition[lives.partition] + 1)
        lengths = last - lives.born
        starts = np.cumsum(lengths) - lengths
        row = np.repeat(np.arange(count), lengths)
        step = np.arange(len(row)) - starts[row] + lives.born[row]
        begins = np.cumsum(per_partition + 1) - (per_partition + 1)
        seen = pa.array(row)
        columns = [
            column.take(seen) if read else pa.nulls(len(row))
            for column, read in zip(lives.columns, self._read, strict=True)
        ]
        moment = begins[lives.partition[row]] + step
        frames = SortedPartitions(columns, moment, self._order)
        values = [frames.values(call) for call in self._params.calls]
        # Of each partition the place in the batch at which it came to a step.
        cause_of = np.full(int((per_partition + 1).sum()), -1)
        cause_of[begins[partition] + steps] = np.arange(len(steps))
        comes = np.flatnonzero((step == lives.born[row]) & (step > 0))
        goes = starts[lives.dies == last] + lengths[lives.dies == last] - 1
        stays = np.flatnonzero(step > lives.born[row])
        changed = np.zeros(len(stays), np.bool_)
        now, was = pa.array(stays), pa.array(stays - 1)
        for column in values:
            changed |= differ(column.take(was), column.take(now))
        updated = stays[changed]
        entries = np.concatenate([comes, goes, updated - 1, updated])
        causes = cause_of[np.concatenate([moment[comes], moment[goes] + 1, moment[updated], moment[updated]])]
        given = np.concatenate(
            [
                kinds[cause_of[moment[comes]]],
                np.full(len(goes), DELETE, np.int8),
                np.full(len(updated), BEFORE, np.int8),
                np.full(len(updated), AFTER, np.int8),
            ]
        )
        if not self._params.before:
            kept = given != BEFORE
            entries, causes, given = entries[kept], causes[kept], given[kept]
        if not len(entries):
            return
        place = np.empty(count, np.int64)
        place[np.lexsort(ranks_of(lives.columns, self._order)) if self._order else np.arange(count)] = np.arange(count)
        order = np.lexsort((given == AFTER, place[row[entries]], causes))
        entries, given = entries[order], given[order]
        shown, of_row = pa.array(entries), pa.array(row[entries])
        found = [*(column.take(of_row) for column in lives.columns), *(column.take(shown) for column in values)]
        self.output.emit(self._output.batch(found, given if given.any() else None, len(entries)))

    def end_epoch(self) -> None:
        ttl, now = self._params.ttl, self.context.clock()
        if ttl and now >= self._next_sweep:
            self._next_sweep = now + ttl // 2
            numbers = self._rows.numbers()
            self._rows.delete(numbers[self._rows.note(_TOUCHED)[numbers] <= now - ttl])
            if self._rows.compact():
                self._chains.rebuild()
        super().end_epoch()


def _steps(partition: Integers) -> Integers:
    """1, 2, 3, .. for the rows of each partition."""
    order = np.argsort(partition, kind="stable")
    ordered = partition[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]]
    places = np.arange(len(ordered))
    found = np.empty(len(ordered), np.int64)
    found[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
    return found


def _read(call: OverCall) -> list[InputRef]:
    inner = call.call
    nodes = [*inner.arguments, *(key.operand for key in call.order_by), *([] if inner.where is None else [inner.where])]
    return [node for node in nodes if isinstance(node, InputRef)]
