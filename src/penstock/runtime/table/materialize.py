"""Between changelogs and sinks: a table by primary key, and a changelog without rows before updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.functions.state_descriptors import ListStateDescriptor, ValueStateDescriptor
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import keys_of_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.state.table import ListTable, ValueTable
from penstock.runtime.table.change_rows import AFTER, BEFORE, DELETE, INSERT
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType


@dataclass(frozen=True)
class MaterializeParams:
    row_type: TableRowType
    ttl: int | None = None  # milliseconds after which a key that saw no row is forgotten


class SinkMaterializeOperator(Operator):
    """Rows of a key as a list: the last one is in the table. When it is taken back, the one before it comes again."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: MaterializeParams = blueprint.params["materialize"]
        self._codec = TableCodec(params.row_type)
        self._types = params.row_type.types
        self._table: ListTable = self.memory.keyed.table("_rows", ListStateDescriptor)
        self._ttl, self._next_sweep = params.ttl, 0
        self._touched: ValueTable | None = None
        if params.ttl is not None:
            self._touched = self.memory.keyed.table("_touched", ValueStateDescriptor)

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        columns = self._codec.arrays(batch)
        rows = list(zip(*(plain_values(c, kind) for c, kind in zip(columns, self._types, strict=True)), strict=True))
        kinds = [INSERT] * len(batch) if batch.kinds is None else batch.kinds.tolist()
        found: list[tuple[int, Any]] = []
        for key, kind, row in zip(keys_of_column(batch.key_column), kinds, rows, strict=True):
            self._touch(key)
            if kind in (INSERT, AFTER):
                known = self._table.get(key)
                found.append((AFTER if known else INSERT, row))
                self._table.extend(key, [row])
            else:
                self._take_back(key, row, found)
        if found:
            cells = zip(*(row for _, row in found), strict=True)
            arrays = [from_plain(cell, kind) for cell, kind in zip(cells, self._types, strict=True)]
            emitted = np.array([kind for kind, _ in found], np.int8)
            self.output.emit(self._codec.batch(arrays, emitted if emitted.any() else None, len(found)))

    def _touch(self, key: Any) -> None:
        if self._touched is not None and self._ttl is not None:
            now, touched = self.context.clock(), self._touched.get(key)
            if touched is not None and touched <= now - self._ttl:
                self._table.remove(key)
            self._touched.put(key, now)

    def end_epoch(self) -> None:
        if self._touched is not None and self._ttl is not None and self.context.clock() >= self._next_sweep:
            now = self.context.clock()
            self._next_sweep = now + self._ttl // 2
            for key in list(self._touched.keys()):
                if self._touched.get(key) <= now - self._ttl:
                    self._table.remove(key)
                    self._touched.remove(key)
        super().end_epoch()

    def _take_back(self, key: Any, row: Any, found: list[tuple[int, Any]]) -> None:
        known = list(self._table.get(key) or ())
        if row not in known:
            return
        place = len(known) - 1 - known[::-1].index(row)
        known.pop(place)
        self._table.replace(key, known)
        if not known:
            found.append((DELETE, row))
        elif place == len(known):
            found.append((AFTER, known[-1]))


class DropBeforeOperator(Operator):
    """Leaves out the rows as they were before updates."""

    def process(self, batch: Batch, input_index: int) -> None:
        kinds = batch.kinds
        kept = batch if kinds is None else batch.filter(kinds != BEFORE)
        if len(kept):
            self.output.emit(kept.keyed(None))
