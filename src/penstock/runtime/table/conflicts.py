"""ON CONFLICT DO ERROR and DO NOTHING: rows of one primary key are compared when a watermark has passed.

Until then the row that an update takes back may still be on its way, so that two rows are no conflict yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.common.errors import JobExecutionError
from penstock.functions.state_descriptors import ListStateDescriptor, ValueStateDescriptor
from penstock.runtime.batch import MAX_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import keys_of_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.state.table import ListTable, ValueTable
from penstock.runtime.table.change_rows import AFTER, DELETE, INSERT
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType

_Row = tuple[Any, ...]


@dataclass(frozen=True)
class ConflictParams:
    """`identity` are the columns by which the query tells its rows apart; None: by all."""

    row_type: TableRowType
    keys: tuple[int, ...]
    identity: tuple[int, ...] | None
    fails: bool


class ConflictOperator(Operator):
    """Of each key at most one row is in the table: the first one that was there alone when a watermark passed."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: ConflictParams = blueprint.params["conflicts"]
        self._codec, self._types = TableCodec(self._params.row_type), self._params.row_type.types
        self._identity = self._params.identity or tuple(range(len(self._types)))
        self._waiting: ListTable = self.memory.keyed.table("_waiting", ListStateDescriptor)
        self._shown: ValueTable = self.memory.keyed.table("_shown", ValueStateDescriptor)

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.key_column is not None
        columns = self._codec.arrays(batch)
        cells = (plain_values(column, kind) for column, kind in zip(columns, self._types, strict=True))
        kinds = [INSERT] * len(batch) if batch.kinds is None else batch.kinds.tolist()
        for key, kind, row in zip(keys_of_column(batch.key_column), kinds, zip(*cells, strict=True), strict=True):
            self._waiting.extend(key, [(kind in (INSERT, AFTER), row)])

    def process_watermark(self, timestamp: int) -> None:
        self._settle()
        super().process_watermark(timestamp)

    def finish(self) -> None:
        if self.watermark != MAX_TIMESTAMP:
            self._settle()
        super().finish()

    def _settle(self) -> None:
        found: list[tuple[int, _Row]] = []
        for key in list(self._waiting.keys()):
            changes = self._waiting.get(key)
            if changes:
                self._settle_key(key, changes, found)
            self._waiting.remove(key)
        if found:
            columns = zip(*(row for _, row in found), strict=True)
            arrays = [from_plain(column, kind) for column, kind in zip(columns, self._types, strict=True)]
            kinds = np.array([kind for kind, _ in found], np.int8)
            self.output.emit(self._codec.batch(arrays, kinds if kinds.any() else None, len(found)))

    def _settle_key(self, key: Any, changes: list[tuple[bool, _Row]], found: list[tuple[int, _Row]]) -> None:
        before = self._shown.get(key)
        rows = [] if before is None else [before]
        for added, row in changes:
            place = next((place for place, one in enumerate(rows) if self._same(one, row)), None)
            if not added:
                if place is not None:
                    rows.pop(place)
            elif place is None or self._params.identity is None:
                rows.append(row)
            else:
                rows[place] = row
        if len(rows) > 1 and self._params.fails:
            names = [self._params.row_type.names[place] for place in self._params.keys]
            values = ", ".join(
                f"{name}={rows[0][place]!r}" for name, place in zip(names, self._params.keys, strict=True)
            )
            raise JobExecutionError(
                f"ON CONFLICT DO ERROR: {len(rows)} rows of the query have the primary key [{values}]. Use ON CONFLICT"
                " DO NOTHING to keep the first one."
            )
        if not rows:
            if before is not None:
                found.append((DELETE, before))
                self._shown.remove(key)
        elif before is None:
            found.append((INSERT, rows[0]))
            self._shown.put(key, rows[0])
        elif len(rows) == 1 and rows[0] != before:
            found.append((AFTER, rows[0]))
            self._shown.put(key, rows[0])

    def _same(self, one: _Row, other: _Row) -> bool:
        return all(one[place] == other[place] for place in self._identity)
