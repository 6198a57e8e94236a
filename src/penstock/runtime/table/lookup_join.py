"""Lookup joins: rows of an outside table that have the keys of a batch, asked for all at once, and kept for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session
from penstock.columns.kernels.python_columns import to_python
from penstock.columns.typed.evaluation import matching
from penstock.columns.typed.nodes import Typed
from penstock.functions.lookup import LookupFunction
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType


@dataclass(frozen=True)
class LookupJoinParams:
    """kind is INNER or LEFT; `keys` are columns of the left, in the order of the function's key."""

    kind: str
    left_type: TableRowType
    keys: tuple[int, ...]
    right_type: TableRowType
    function: LookupFunction
    condition: Typed | None = None
    cached_keys: int = 0  # at most
    cached_ms: int | None = None  # after a write
    session: Session = Session()


class LookupJoinOperator(Operator):
    """Has no state: what it knows of the outside it asks again after a restart."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: LookupJoinParams = blueprint.params["join"]
        self._left, self._right = TableCodec(self._params.left_type), TableCodec(self._params.right_type)
        self._output = TableCodec(blueprint.output_type)
        self._cache: dict[tuple[Any, ...], tuple[int, list[Any]]] = {}

    def open(self) -> None:
        self._params.function.open()

    def close(self) -> None:
        self._params.function.close()

    def process(self, batch: Batch, input_index: int) -> None:
        arrays, kinds = self._left.arrays(batch), batch.kinds
        types = self._params.left_type.types
        parts = [to_python(arrays[place], types[place]) for place in self._params.keys]
        keys = list(zip(*parts, strict=True))
        known = self._rows_of([key for key in dict.fromkeys(keys) if None not in key])
        found = [known.get(key, ()) for key in keys]
        counts = np.fromiter(map(len, found), np.int64, len(found))
        rows = np.repeat(np.arange(len(keys)), counts)
        right = self._right.encode([row for some in found for row in some])
        others = np.arange(right.num_rows)
        if self._params.condition is not None and len(rows):
            both = [*(array.take(pa.array(rows)) for array in arrays), *right.columns]
            session = session_at(self._params.session, self.context.clock())
            hold = matching(self._params.condition, both, len(rows), session)
            rows, others = rows[hold], others[hold]
        if self._params.kind == "LEFT":
            alone = np.setdiff1d(np.arange(len(keys)), rows)
            rows, others = np.concatenate([rows, alone]), np.concatenate([others, np.full(len(alone), -1)])
            order = np.argsort(rows, kind="stable")
            rows, others = rows[order], others[order]
        if len(rows):
            chosen = pa.array(rows)
            theirs = right.take(pa.array(others, pa.int64(), mask=others < 0)).columns
            columns = [*(array.take(chosen) for array in arrays), *theirs[: len(self._params.right_type)]]
            self.output.emit(self._output.batch(columns, None if kinds is None else kinds[rows], len(rows)))

    def _rows_of(self, keys: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], list[Any]]:
        """The rows of each key, out of the cache or from outside."""
        params, now = self._params, self.context.clock()
        found: dict[tuple[Any, ...], list[Any]] = {}
        missing = []
        for key in keys:
            cached = self._cache.get(key)
            if cached is None or (params.cached_ms is not None and cached[0] + params.cached_ms <= now):
                missing.append(key)
            else:
                found[key] = cached[1]
        if missing:
            answers = dict(zip(missing, params.function.lookup(missing), strict=True))
            found |= answers
            self._remember(answers, now)
        return found

    def _remember(self, answers: dict[tuple[Any, ...], list[Any]], now: int) -> None:
        for key, rows in answers.items():
            self._cache.pop(key, None)
            self._cache[key] = (now, rows)
        while len(self._cache) > self._params.cached_keys:
            del self._cache[next(iter(self._cache))]
