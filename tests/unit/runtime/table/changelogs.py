"""Operators of tables on the harness: changelogs in and out as pairs of a kind and a tuple."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.columns.typesystem.base import DataType
from penstock.common.types import Row, RowKind
from penstock.runtime.batch import Batch
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.row_type import TableRowType
from penstock.testing.harness import OperatorHarness

Change = tuple[str, tuple[Any, ...]]
KINDS = ("+I", "-U", "+U", "-D")


def row_type(types: Sequence[DataType]) -> TableRowType:
    return TableRowType([f"c{place}" for place in range(len(types))], types)


class TableHarness:
    """One operator whose inputs have been exchanged by some of their columns."""

    def __init__(
        self,
        kind: str,
        params: dict[str, Any],
        inputs: Sequence[Sequence[DataType]],
        keys: Sequence[Sequence[int]],
        output: Sequence[DataType],
        **settings: Any,
    ) -> None:
        self._types = [row_type(types) for types in inputs]
        self._keys = [RowKey(kind, positions) for kind, positions in zip(self._types, keys, strict=True)]
        self.harness = OperatorHarness(kind, params=params, output_type=row_type(output), **settings)

    def push(self, changes: Sequence[Change], input_index: int = 0) -> None:
        """In one batch."""
        if not changes:
            return
        codec = TableCodec(self._types[input_index])
        rows = [Row(*values) for _, values in changes]
        kinds = np.array([KINDS.index(kind) for kind, _ in changes], np.int8)
        columns = codec.encode(rows)
        batch = Batch.of_columns(codec, columns, kinds=kinds if kinds.any() else None)
        keyed = batch.keyed(self._keys[input_index].key_column_of(batch))
        self.harness.operator.process(keyed, input_index)

    def push_cut(self, changes: Sequence[Change], rng: random.Random, restarts: bool = True) -> None:
        """In batches of random sizes, with restarts at random places."""
        start = 0
        while start < len(changes):
            size = rng.choice((1, 2, 3, 7, 40, 200))
            self.push(changes[start : start + size])
            start += size
            if restarts and rng.random() < 0.3:
                self.harness.restart(full=rng.random() < 0.2)

    def take(self) -> list[Change]:
        return [(KINDS[_number(row)], tuple(row._values)) for row in self.harness.take()]


def _number(row: Row) -> int:
    return int(RowKind(row.get_row_kind()).value)


def random_changelog(rng: random.Random, rows: int, make: Any, retracting: bool) -> list[Change]:
    """Random rows; with retractions some of them are taken back later, as a deletion or as an update."""
    present: list[tuple[Any, ...]] = []
    changes: list[Change] = []
    while len(changes) < rows:
        if retracting and present and rng.random() < 0.45:
            old = present.pop(rng.randrange(len(present)))
            if rng.random() < 0.5:
                changes.append(("-D", old))
            else:
                new = (old[0], *make(rng)[1:])
                present.append(new)
                changes += [("-U", old), ("+U", new)]
        else:
            row = make(rng)
            present.append(row)
            changes.append(("+I", row))
    return changes


def table_of(changes: Sequence[Change]) -> dict[tuple[Any, ...], int]:
    """The rows that a changelog leaves, and how often each."""
    found: dict[tuple[Any, ...], int] = {}
    for kind, row in changes:
        frozen = tuple(map(_frozen, row))
        found[frozen] = found.get(frozen, 0) + (1 if kind in ("+I", "+U") else -1)
    return {row: count for row, count in found.items() if count}


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return tuple(sorted(value.items())) if isinstance(value, dict) else value
