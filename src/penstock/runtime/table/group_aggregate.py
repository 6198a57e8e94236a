"""GROUP BY: the changelog of aggregates, row by row exactly as Flink's, computed for whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.columns.typed.nodes import Aggregate
from penstock.runtime.batch import MAX_TIMESTAMP, Batch, joined
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, first_positions, integers_as_column
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.aggregates.interface import Running, Signs
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.change_rows import ChangeRows, change_rows, differ, signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.expiry import Expiry
from penstock.runtime.table.kept_columns import KeptColumns
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.lives import Lives, lives
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import Placed, SlotField

_RECORDS = "records"
_T = TypeVar("_T", bound=np.generic)


@dataclass(frozen=True)
class Bundle:
    """How many rows, and how many milliseconds, a group may wait to tell its change; an epoch ends it in any case."""

    rows: int
    millis: int


@dataclass(frozen=True)
class GroupAggregateParams:
    """`retracting`: rows may be taken back. `before`: updates come with the row as it was."""

    input_type: TableRowType
    keys: tuple[int, ...]
    calls: tuple[Aggregate, ...]
    retracting: bool = False
    before: bool = True
    ttl: int | None = None  # milliseconds after which a group that saw no row is forgotten
    bundle: Bundle | None = None  # mini-batch: one change of each group for a bundle of rows
    only_final: bool = False  # batch mode: nothing before the end


class GroupAggregateOperator(AggregatingOperator):
    """One slot for each group, with the accumulators of all calls."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: GroupAggregateParams = blueprint.params["aggregate"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._calls = AggregateCalls(self._params.calls, self._params.retracting, merging=False)
        fields = list(self._calls.fields)
        if self._params.retracting:
            fields.append(SlotField(_RECORDS, np.int64, 0))
        self._expiry = Expiry(self._params.ttl, context.clock)
        fields += self._expiry.fields
        key_types = [self._params.input_type.types[place] for place in self._params.keys]
        self._keys = KeptColumns(key_types) if self._params.only_final else None
        if self._keys is not None:
            fields += self._keys.fields
        self._table = slot_table(self, "_groups", fields, self._calls.maps)
        self._waiting: list[Batch] = []
        self._flush_at: int | None = None

    # -- rows --------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        bundle = self._params.bundle
        if bundle is None:
            self._aggregate(batch)
            return
        while len(batch):
            room = bundle.rows - sum(map(len, self._waiting)) if bundle.rows > 0 else len(batch)
            self._waiting.append(batch if len(batch) <= room else batch.slice(0, room))
            if self._flush_at is None:
                self._flush_at = self.context.clock() + bundle.millis
            if bundle.rows > 0 and len(batch) >= room:
                self._flush()
            batch = batch.slice(min(room, len(batch)), len(batch))

    def _flush(self) -> None:
        """The bundle is complete."""
        waiting, self._waiting, self._flush_at = self._waiting, [], None
        if waiting:
            self._aggregate(joined(waiting))

    def process_watermark(self, timestamp: int) -> None:
        """Does not end a bundle, as in Flink: groups have no time, so that nobody behind them compares it."""
        if timestamp == MAX_TIMESTAMP:
            self._flush()
        super().process_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if self._flush_at is not None and self._flush_at <= now:
            self._flush()
        super().advance_processing_time(now)

    def next_processing_time(self) -> int | None:
        return self._flush_at

    def _aggregate(self, batch: Batch) -> None:
        columns, signs = self._input.arrays(batch), signs_of(batch.kinds)
        key_column = batch.key_column
        assert key_column is not None
        placed = self._table.place(key_column)
        self._expiry.forget(self._table, placed.slots)
        runs = Runs.by_slot(placed.codes, placed.slots, ~self._table.alive[placed.slots])
        if self._params.only_final or self._params.bundle is not None:
            self._bundle(placed, runs, columns, signs, len(batch))
            return
        cut = self._lives(runs, signs)
        if not len(cut.runs.order):
            return
        trails = self._calls.running(self._table, cut.runs, columns, signs, len(batch))
        self._settle(cut)
        rows = self._changes(cut, trails, len(batch))
        if len(rows.causes):
            self._emit(columns, [trail.values for trail in trails], rows)

    def _lives(self, runs: Runs, signs: Signs | None) -> Lives:
        if not self._params.retracting:
            return Lives(runs, np.ones(len(runs.order), np.int64))
        return lives(runs, signs, runs.begins(self._table.column(_RECORDS), 0))

    def _settle(self, cut: Lives) -> None:
        """Writes what the groups are after the batch."""
        slots, table = cut.runs.slots, self._table
        table.mark(slots)
        self._expiry.touch(table, slots)
        if self._params.retracting:
            table.column(_RECORDS)[slots] = cut.records[cut.runs.lasts]
            ended = np.unique(slots)
            table.remove_slots(ended[table.column(_RECORDS)[ended] == 0])

    def _changes(self, cut: Lives, trails: Sequence[Running], count: int) -> ChangeRows:
        runs = cut.runs
        rows = len(runs.order)
        new = np.arange(len(runs.starts), len(runs.starts) + rows)
        old = new - 1
        old[runs.starts] = np.arange(len(runs.starts))
        first = np.zeros(rows, np.bool_)
        first[runs.starts] = runs.fresh
        ended = cut.records == 0
        changed = ~first & ~ended
        if self._params.ttl is None:
            changed &= _differ(trails, old, new)
        did = [_by_row(values, runs.order, count) for values in (first, changed, ended)]
        versions = [_by_row(values, runs.order, count) for values in (old, new)]
        return change_rows(did[0], did[1], did[2], versions[0], versions[1], self._params.before)

    def _emit(self, columns: Sequence[pa.Array], values: Sequence[pa.Array], rows: ChangeRows) -> None:
        causes, versions = integers_as_column(rows.causes), integers_as_column(rows.versions)
        keys = [columns[place].take(causes) for place in self._params.keys]
        found = [*keys, *(column.take(versions) for column in values)]
        self.output.emit(self._output.batch(found, rows.kinds, len(rows.causes)))

    # -- one change for a batch ----------------------------------------------------------------------------------

    def _bundle(self, placed: Placed, runs: Runs, columns: Sequence[pa.Array], signs: Signs | None, count: int) -> None:
        table, slots = self._table, placed.slots
        emits = not self._params.only_final
        alive = table.alive[slots]
        before = self._calls.values(table, slots) if emits else []
        cut = self._lives(runs, signs)
        if not len(cut.runs.order):
            return
        self._calls.accumulate(table, cut.runs, columns, signs, count)
        firsts = first_positions(placed.codes)
        if self._keys is not None:
            new = np.flatnonzero(~alive)
            positions = integers_as_column(firsts[new])
            self._keys.write(table, slots[new], [columns[place].take(positions) for place in self._params.keys])
        self._settle(cut)
        if emits:
            self._emit_bundle(
                slots, alive, before, [columns[p].take(integers_as_column(firsts)) for p in self._params.keys]
            )

    def _emit_bundle(
        self, slots: Integers, alive: npt.NDArray[np.bool_], before: list[pa.Array], keys: list[pa.Array]
    ) -> None:
        now = self._table.alive[slots]
        after = self._calls.values(self._table, slots)
        both = [Running(pa.concat_arrays(pair)) for pair in zip(before, after, strict=True)]
        old = np.arange(len(slots))
        new = old + len(slots)
        changed = alive & now
        if self._params.ttl is None:
            changed &= _differ(both, old, new)
        rows = change_rows(~alive & now, changed, alive & ~now, old, new, self._params.before)
        if len(rows.causes):
            causes, versions = integers_as_column(rows.causes), integers_as_column(rows.versions)
            found = [*(key.take(causes) for key in keys), *(trail.values.take(versions) for trail in both)]
            self.output.emit(self._output.batch(found, rows.kinds, len(rows.causes)))

    def finish(self) -> None:
        self._flush()
        if self._params.only_final:
            self._emit_final()
        super().finish()

    def _emit_final(self) -> None:
        slots = self._table.all_slots()
        if not len(slots) and not self._params.keys:
            slots = self._table.slots_of([0])  # without keys there is one group even of nothing
        if len(slots):
            assert self._keys is not None
            found = [*self._keys.read(self._table, slots), *self._calls.values(self._table, slots)]
            self.output.emit(self._output.batch(found, rows=len(slots)))

    def end_epoch(self) -> None:
        self._flush()
        self._expiry.sweep(self._table)
        super().end_epoch()


def _by_row(values: npt.NDArray[_T], order: Integers, count: int) -> npt.NDArray[_T]:
    found = np.empty(count, values.dtype) if len(order) == count else np.zeros(count, values.dtype)
    found[order] = values
    return found


def _differ(trails: Sequence[Running], old: Integers, new: Integers) -> npt.NDArray[np.bool_]:
    """Where some value is another one than before; a null differs from every value."""
    found = np.zeros(len(new), np.bool_)
    one, other = integers_as_column(old), integers_as_column(new)
    for trail in trails:
        compared = trail.values if trail.versions is None else trail.versions
        if found.all():
            break
        found |= differ(compared.take(one), compared.take(other))
    return found
