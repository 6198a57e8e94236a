"""An operator of tables on the harness: changelogs as (kind, row) in and out, cut into batches and restarts at will."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.types import Row, RowKind
from penstock.runtime.batch import Batch
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.row_type import TableRowType
from penstock.testing.harness import OperatorHarness

KINDS = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}
_NAMES = {kind: name for name, kind in KINDS.items()}

Change = tuple[str, tuple[Any, ...]]  # kind and row


def changed(kind: str, *values: Any) -> Row:
    row = Row(*values)
    row.set_row_kind(KINDS[kind])
    return row


def as_change(row: Row) -> Change:
    return _NAMES[row.get_row_kind()], tuple(row)


class TableHarness(OperatorHarness):
    """Inputs are described by their types and the positions of their keys."""

    def __init__(
        self,
        kind: str,
        params: dict[str, Any],
        inputs: Sequence[tuple[TableRowType, Sequence[int] | None]],
        output: TableRowType,
        function: Any = None,
        **settings: Any,
    ) -> None:
        self._codecs = [TableCodec(row_type) for row_type, _ in inputs]
        self._row_keys = [None if keys is None else RowKey(row_type, keys) for row_type, keys in inputs]
        super().__init__(kind, function, params, output_type=output, **settings)

    def rows(self, changes: Sequence[Change], input_index: int = 0) -> None:
        """Changes in one batch of columns, with the keys that an exchange would give them."""
        codec, key = self._codecs[input_index], self._row_keys[input_index]
        rows = [changed(kind, *values) for kind, values in changes]
        batch = Batch(None, codec=codec, columns=codec.encode(rows))
        self.operator.process(batch if key is None else batch.keyed(key.key_column_of(batch)), input_index)

    def changes(self) -> list[Change]:
        """What came out since the last call."""
        return [as_change(row) for row in self.take()]


def materialized(changes: Sequence[Change]) -> list[tuple[Any, ...]]:
    """The table that a changelog describes; a row that is taken back must be there."""
    table: list[tuple[Any, ...]] = []
    for kind, row in changes:
        if kind in ("+I", "+U"):
            table.append(row)
        else:
            table.remove(row)
    return sorted(table, key=repr)
