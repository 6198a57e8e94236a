"""Top-N, ORDER BY with LIMIT, and LIMIT: the first rows of each partition as a changelog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.typed.nodes import SortKey
from penstock.functions.state_descriptors import MapStateDescriptor, ValueStateDescriptor
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import integers_as_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.state.table import MapTable, ValueTable
from penstock.runtime.table.aggregates.lanes import lane_of
from penstock.runtime.table.change_rows import BEFORE, INSERT, Signs, signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.slots import Placed, SlotField, SlotTable
from penstock.runtime.table.sort_order import SortOrder
from penstock.runtime.table.top_n import AppendTopN, RetractTopN, Row, TopN, TopOne, UpdateTopN

_BAR = "bar"


class Strategy(Enum):
    APPEND = "AppendFastStrategy"
    UPDATE = "UpdateFastStrategy"
    RETRACT = "RetractStrategy"


@dataclass(frozen=True)
class RankParams:
    """Ranks from start to end; `numbered`: the rank is the last column of the result."""

    input_type: TableRowType
    order: tuple[SortKey, ...]
    strategy: Strategy
    start: int
    end: int
    numbered: bool
    before: bool = True
    row_key: tuple[int, ...] = ()  # of the strategy UPDATE
    one_is_update: bool = True  # the first row alone is updated, not deleted and inserted
    ttl: int | None = None
    only_final: bool = False  # batch mode: nothing before the end


class RankOperator(Operator):
    """Keeps the rows of each partition in order; most rows of a long stream are seen to be no candidates by columns."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: RankParams = blueprint.params["rank"]
        types = self._params.input_type.types
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._order = SortOrder(self._params.order, types)
        self._table: MapTable = self.memory.keyed.table("_ranked", MapStateDescriptor)
        self._touched: ValueTable | None = None
        if self._params.ttl is not None:
            self._touched = self.memory.keyed.table("_touched", ValueStateDescriptor)
        self.loaded()

    def loaded(self) -> None:
        # Made of the table when a partition is first asked for.
        self._slots = SlotTable([SlotField(_BAR, np.float64, np.inf)])
        self._partitions: dict[int, TopN] = {}

    # -- rows --------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        columns, signs = self._input.arrays(batch), signs_of(batch.kinds)
        placed = self._slots.place(batch.key_column)
        chosen = self._candidates(columns, placed)
        if not len(chosen):
            return
        positions = integers_as_column(chosen)
        some = columns if len(chosen) == len(batch) else [column.take(positions) for column in columns]
        self._rank(some, placed.by_row[chosen], None if signs is None else signs[chosen])

    def _candidates(self, columns: list[pa.Array], placed: Placed) -> npt.NDArray[np.int64]:
        """Rows whose first sort column does not rule them out already."""
        everything = np.arange(len(placed.codes))
        if self._params.strategy is Strategy.RETRACT or not self._params.order or self._params.ttl is not None:
            return everything
        badness = self._badness(columns[self._order.place(self._params.order[0])])
        return everything if badness is None else np.flatnonzero(badness <= self._slots.column(_BAR)[placed.by_row])

    def _badness(self, column: pa.Array) -> npt.NDArray[np.float64] | None:
        """The first sort column as numbers that grow with the rank; equal ones may be different in truth."""
        key = self._params.order[0]
        lane = lane_of(self._params.input_type.types[self._order.place(key)])
        if not lane.numbers:
            return None
        values, valid = lane.read(column)
        numbers = values.astype(np.float64) if key.ascending else -values.astype(np.float64)
        return numbers if valid is None else np.where(valid, numbers, -np.inf if key.nulls_first else np.inf)

    def _rank(self, columns: list[pa.Array], slots: npt.NDArray[np.int64], signs: Signs | None) -> None:
        types = self._params.input_type.types
        rows = list(zip(*(plain_values(c, kind) for c, kind in zip(columns, types, strict=True)), strict=True))
        keys = self._order.of_columns(columns) if self._params.order else [()] * len(rows)
        adds = [True] * len(rows) if signs is None else (signs > 0).tolist()
        changes = _Changes(self._params.before)
        numbered = self._params.numbered or self._params.start > 1
        partitions = self._opened(slots)
        for slot, key, row, added in zip(slots.tolist(), keys, rows, adds, strict=True):
            partition = partitions[slot]
            if added:
                partition.insert(key, row, numbered, changes.emit)  # type: ignore[attr-defined]
            elif isinstance(partition, RetractTopN):
                partition.retract(key, row, numbered, changes.emit)
        self._raise_bars(partitions)
        if not self._params.only_final:
            self._emit(changes, rows, columns)

    def finish(self) -> None:
        if self._params.only_final:
            changes = _Changes(True)
            for key in list(self._table.keys()):
                partition = self._made(self._table.get(key) or {}, {})
                for rank in range(self._params.start, min(len(partition.entries), self._params.end) + 1):
                    changes.emit(INSERT, partition.row(rank - 1), rank)
            self._emit(changes)
        super().finish()

    def _emit(self, changes: _Changes, rows: Sequence[Row] = (), columns: Sequence[pa.Array] = ()) -> None:
        """Rows of the batch are taken from its columns; only those that were kept before become columns again."""
        if not changes.kinds:
            return
        places = {id(row): place for place, row in enumerate(rows)}
        kept: list[Row] = []
        chosen = []
        for row in changes.rows:
            place = places.get(id(row))
            if place is None:
                place = places[id(row)] = len(rows) + len(kept)
                kept.append(row)
            chosen.append(place)
        found = list(columns)
        if kept:
            cells = zip(zip(*kept, strict=True), self._params.input_type.types, strict=True)
            older = [from_plain(cell, kind) for cell, kind in cells]
            found = [pa.concat_arrays(pair) for pair in zip(found, older, strict=True)] if found else older
        taken = pa.array(chosen, pa.int64())
        found = [column.take(taken) for column in found]
        if self._params.numbered:
            found.append(pa.array(changes.ranks, pa.int64()))
        kinds = np.array(changes.kinds, np.int8)
        self.output.emit(self._output.batch(found, kinds if kinds.any() else None, len(kinds)))

    # -- partitions --------------------------------------------------------------------------------------------

    def _opened(self, slots: npt.NDArray[np.int64]) -> dict[int, TopN]:
        """The partitions of some slots, ready to be changed."""
        different = np.unique(slots)
        keys = self._slots.keys_at(different)
        now = self.context.clock() if self._params.ttl is not None else 0
        opened = {}
        for slot, key in zip(different.tolist(), keys, strict=True):
            if self._touched is not None and self._params.ttl is not None:
                touched = self._touched.get(key)
                if touched is not None and touched <= now - self._params.ttl:
                    self._table.remove(key)
                    self._partitions.pop(slot, None)
                self._touched.put(key, now)
            entries, note = self._table.writable(key)
            partition = self._partitions.get(slot)
            if partition is None:
                partition = self._partitions[slot] = self._made(entries, note)
            partition.note = note
            opened[slot] = partition
        return opened

    def _made(self, entries: dict[int, Any], note: dict[int, Any]) -> TopN:
        params = self._params
        if params.strategy is Strategy.RETRACT:
            return RetractTopN(entries, note, params.start, params.end)
        if params.end == 1 and params.one_is_update:
            return TopOne(entries, note, params.start, params.end)
        if params.strategy is Strategy.UPDATE:
            return UpdateTopN(entries, note, params.start, params.end, params.row_key)
        return AppendTopN(entries, note, params.start, params.end)

    def _raise_bars(self, partitions: dict[int, TopN]) -> None:
        if self._params.strategy is Strategy.RETRACT or not self._params.order:
            return
        place = self._order.place(self._params.order[0])
        if not lane_of(self._params.input_type.types[place]).numbers:
            return
        full = [(slot, partition) for slot, partition in partitions.items() if partition.bar() is not None]
        if full:
            worst = [partition.row(len(partition.entries) - 1)[place] for _, partition in full]
            column = from_plain(worst, self._params.input_type.types[place])
            self._slots.column(_BAR)[[slot for slot, _ in full]] = self._badness(column)

    def end_epoch(self) -> None:
        if self.memory.keyed.on_disk:
            self.loaded()
        super().end_epoch()


class _Changes:
    """What partitions emit; without the rows before updates if nobody wants them."""

    def __init__(self, before: bool) -> None:
        self._before = before
        self.kinds: list[int] = []
        self.rows: list[Row] = []
        self.ranks: list[int] = []

    def emit(self, kind: int, row: Row, rank: int) -> None:
        if kind != BEFORE or self._before:
            self.kinds.append(kind)
            self.rows.append(row)
            self.ranks.append(rank)
