"""Keeps one row for each key: the last one (deduplication, ChangelogNormalize), or the first one of its time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, integers_as_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.aggregates.lanes import lane_of
from penstock.runtime.table.change_rows import change_rows, differ, signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.expiry import Expiry
from penstock.runtime.table.kept_columns import KeptColumns
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.runs import Runs, fold, running_last
from penstock.runtime.table.slots import SlotField

Mask = npt.NDArray[np.bool_]
_WAITING, _EMITTED = "waiting", "emitted"


class Keep(Enum):
    """Which row stays: FIRST, LAST by arrival, EARLIEST, LATEST by a time column, UPSERT the last of a changelog."""

    FIRST = "first"
    LAST = "last"
    EARLIEST = "earliest"
    LATEST = "latest"
    UPSERT = "upsert"


@dataclass(frozen=True)
class KeepParams:
    row_type: TableRowType
    keep: Keep
    time_column: int | None = None
    before: bool = True
    ttl: int | None = None


class FirstRowOperator(Operator):
    """The first row of each key by arrival; of keys nothing is kept but that they came."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: KeepParams = blueprint.params["keep"]
        self._expiry = Expiry(params.ttl, context.clock)
        self._table = slot_table(self, "_seen", [SlotField("seen", np.bool_, False), *self._expiry.fields])

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        placed = self._table.place(batch.key_column)
        self._expiry.forget(self._table, placed.slots)
        new = ~self._table.alive[placed.slots]
        if not new.any():
            return
        firsts = np.full(len(placed.slots), len(batch))
        np.minimum.at(firsts, placed.codes, np.arange(len(batch)))
        self._table.mark(placed.slots[new])
        self._expiry.touch(self._table, placed.slots[new])
        self.output.emit(batch.take(np.sort(firsts[new])).keyed(None))

    def end_epoch(self) -> None:
        self._expiry.sweep(self._table)
        super().end_epoch()


class LastRowOperator(Operator):
    """The last row of each key, by arrival or by time; a changelog of upserts becomes a full one."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: KeepParams = blueprint.params["keep"]
        self._codec = TableCodec(self._params.row_type)
        self._rows = KeptColumns(self._params.row_type.types)
        self._expiry = Expiry(self._params.ttl, context.clock)
        self._table = slot_table(self, "_rows", [*self._rows.fields, *self._expiry.fields])

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        columns, table = self._codec.arrays(batch), self._table
        placed = table.place(batch.key_column)
        self._expiry.forget(table, placed.slots)
        runs = Runs.by_slot(placed.codes, placed.slots, ~table.alive[placed.slots])
        kept = self._rows.read(table, runs.slots)
        wins = self._wins(columns, kept, batch, runs)
        signs = signs_of(batch.kinds)
        adds = np.ones(len(batch), np.bool_) if signs is None else signs[runs.order] > 0
        # The version before a row: the last winner of its run, or what the key had.
        last = running_last(wins, runs)
        before = np.concatenate([[-1], last[:-1]]) if len(last) else last
        before[runs.starts] = -1
        known = before >= 0
        old = np.where(known, len(runs.starts) + runs.order[before], runs.run_of_row)
        alive = np.where(known, adds[before], ~runs.fresh[runs.run_of_row])
        versions = [pa.concat_arrays(pair) for pair in zip(kept, columns, strict=True)]
        self._settle(columns, runs, last, adds)
        self._emit(versions, runs, wins, adds, alive, old)

    def _wins(self, columns: list[pa.Array], kept: list[pa.Array], batch: Batch, runs: Runs) -> Mask:
        """Which rows replace the one before, in the order of runs."""
        place = self._params.time_column
        if self._params.keep is not Keep.LATEST or place is None:
            return np.ones(len(batch), np.bool_)
        lane = lane_of(self._params.row_type.types[place])
        lowest = np.iinfo(np.int64).min
        times = lane.read(columns[place])[0][runs.order]
        begins = np.where(runs.fresh, lowest, lane.read(kept[place])[0])
        wins: Mask = times == fold(np.maximum, times, begins, runs)
        return wins

    def _settle(self, columns: list[pa.Array], runs: Runs, last: Integers, adds: Mask) -> None:
        table = self._table
        winners = last[runs.lasts]
        changed = winners >= 0
        slots, winners = runs.slots[changed], winners[changed]
        stays = adds[winners]
        rows = integers_as_column(runs.order[winners[stays]])
        self._rows.write(table, slots[stays], [column.take(rows) for column in columns])
        table.mark(slots[stays])
        self._expiry.touch(table, slots[stays])
        gone = slots[~stays]
        table.remove_slots(gone[table.alive[gone]])

    def _emit(self, versions: list[pa.Array], runs: Runs, wins: Mask, adds: Mask, alive: Mask, old: Integers) -> None:
        new = len(runs.starts) + runs.order
        inserts, updates, deletes = wins & adds & ~alive, wins & adds & alive, wins & ~adds & alive
        if self._params.keep is Keep.UPSERT and self._params.ttl is None:
            updates &= self._changed(versions, old, new)
        by_row = np.empty(len(new), np.int64)
        by_row[runs.order] = np.arange(len(new))
        rows = change_rows(
            inserts[by_row], updates[by_row], deletes[by_row], old[by_row], new[by_row], self._params.before
        )
        if len(rows.causes):
            chosen = integers_as_column(rows.versions)
            found = [column.take(chosen) for column in versions]
            self.output.emit(self._codec.batch(found, rows.kinds, len(rows.causes)))

    @staticmethod
    def _changed(versions: list[pa.Array], old: Integers, new: Integers) -> Mask:
        one, other = integers_as_column(old), integers_as_column(new)
        found = np.zeros(len(new), np.bool_)
        for column in versions:
            found |= differ(column.take(one), column.take(other))
        return found

    def end_epoch(self) -> None:
        self._expiry.sweep(self._table)
        super().end_epoch()


class EarliestRowOperator(Operator):
    """The row with the smallest time of each key, given out when the watermark says that no earlier one can come."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: KeepParams = blueprint.params["keep"]
        assert self._params.time_column is not None
        self._place = self._params.time_column
        self._codec = TableCodec(self._params.row_type)
        self._rows = KeptColumns(self._params.row_type.types)
        self._expiry = Expiry(self._params.ttl, context.clock)
        marks = [SlotField(_WAITING, np.bool_, False), SlotField(_EMITTED, np.bool_, False)]
        fields = [*self._rows.fields, *marks, SlotField("time", np.int64, 0), *self._expiry.fields]
        self._table = slot_table(self, "_rows", fields)
        self._late = context.memory.metrics.counter("numLateRecordsDropped")

    def process(self, batch: Batch, input_index: int) -> None:
        columns, table = self._codec.arrays(batch), self._table
        times = milliseconds(columns[self._place])
        late = times < self.watermark
        if late.any():
            self._late.inc(int(np.count_nonzero(late)))
            batch = batch.filter(~late)
            columns, times = self._codec.arrays(batch), times[~late]
        if not len(batch):
            return
        assert batch.key_column is not None
        placed = table.place(batch.key_column)
        self._forget(placed.slots)
        by_key = np.lexsort((np.arange(len(times)), times, placed.codes))
        firsts = by_key[np.searchsorted(placed.codes[by_key], np.arange(len(placed.slots)))]
        slots = placed.slots
        better = ~table.column(_WAITING)[slots] | (times[firsts] < table.column("time")[slots])
        better &= ~table.column(_EMITTED)[slots]
        slots, firsts = slots[better], firsts[better]
        if len(slots):
            rows = integers_as_column(firsts)
            self._rows.write(table, slots, [column.take(rows) for column in columns])
            table.column("time")[slots] = times[firsts]
            table.column(_WAITING)[slots] = True
            table.mark(slots)

    def _forget(self, slots: Integers) -> None:
        if self._params.ttl is not None:  # what waits is not forgotten
            self._expiry.forget(self._table, slots[~self._table.column(_WAITING)[slots]])

    def process_watermark(self, timestamp: int) -> None:
        table = self._table
        slots = table.all_slots()
        waiting = slots[table.column(_WAITING)[slots] & (table.column("time")[slots] <= timestamp)]
        if len(waiting):
            due = waiting[np.argsort(table.column("time")[waiting], kind="stable")]
            self.output.emit(self._codec.batch(self._rows.read(table, due), rows=len(due)))
            self._rows.clear(table, due)
            table.column(_WAITING)[due] = False
            table.column(_EMITTED)[due] = True
            table.mark(due)
            self._expiry.touch(table, due)
        super().process_watermark(timestamp)

    def end_epoch(self) -> None:
        if self._params.ttl is not None:
            self._forget(self._table.all_slots())
        super().end_epoch()


def milliseconds(column: pa.Array) -> Integers:
    """A time column as milliseconds since 1970."""
    found: Integers = column.cast(pa.timestamp("ms"), safe=False).view(pa.int64()).to_numpy(zero_copy_only=False)
    return found
