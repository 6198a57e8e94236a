"""Lookup joins: rows of an outside table that have the keys of a batch, asked for all at once, and kept for a while."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session
from penstock.columns.kernels.python_columns import to_python
from penstock.columns.typed.evaluation import matching, project
from penstock.columns.typed.nodes import Typed
from penstock.columns.typed.python_call import functions_in
from penstock.functions.lookup import LookupFunction
from penstock.runtime.batch import Batch, Kinds
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.lookup_cache import CacheSettings, Found, Key, LookupCache
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.streams import column_of
from penstock.runtime.table.user_functions import UserFunctions
from penstock.runtime.table.whole_table import Reloads, WholeTable


@dataclass(frozen=True)
class Retries:
    """A key that is not there is asked for again, so often and after so many milliseconds each time."""

    attempts: int
    delay_ms: int


@dataclass(frozen=True)
class LookupJoinParams:
    """kind is INNER or LEFT; `keys` are columns of the left, in the order of the function's key.

    The function gives rows of `right_type`; `computed` makes the columns of the join out of them, if they are others.
    """

    kind: str
    left_type: TableRowType
    keys: tuple[int, ...]
    right_type: TableRowType
    function: LookupFunction
    condition: Typed | None = None
    cache: CacheSettings | Reloads | None = None
    retries: Retries | None = None
    computed: tuple[Typed, ...] | None = None
    session: Session = Session()


class LookupJoinOperator(Operator):
    """Has no state: what it knows of the outside it asks again after a restart."""

    asynchronous = True  # in so far as the outside may answer otherwise when an epoch is run again

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params = self._params = blueprint.params["join"]
        self._left = TableCodec(params.left_type)
        self._pairs = RowPairs(params, TableCodec(blueprint.output_type), context)
        self._cache = LookupCache(params.cache) if isinstance(params.cache, CacheSettings) else None
        self._whole: WholeTable | None = None
        if isinstance(params.cache, Reloads):
            self._whole = WholeTable(params.function, params.cache, context.clock)

    def open(self) -> None:
        self._pairs.functions.open()
        self._params.function.open()

    def close(self) -> None:
        self._params.function.close()
        self._pairs.functions.close()

    def process(self, batch: Batch, input_index: int) -> None:
        arrays, types = self._left.arrays(batch), self._params.left_type.types
        parts = [to_python(arrays[place], types[place]) for place in self._params.keys]
        keys = list(zip(*parts, strict=True))
        known = self._rows_of([key for key in dict.fromkeys(keys) if None not in key])
        joined = self._pairs.joined(arrays, batch.kinds, [known.get(key, []) for key in keys])
        if joined is not None:
            self.output.emit(joined)

    def _rows_of(self, keys: list[Key]) -> dict[Key, Found]:
        """The rows of each key, out of the cache or from outside."""
        if self._whole is not None:
            return self._whole.rows_of(keys)
        cache, now = self._cache, self.context.clock()
        if cache is None:
            return self._asked(keys)
        cached = {key: cache.get(key, now) for key in keys}
        found = {key: rows for key, rows in cached.items() if rows is not None}
        asked = self._asked([key for key in keys if key not in found])
        for key, rows in asked.items():
            cache.put(key, rows, now)
        return found | asked

    def _asked(self, keys: list[Key]) -> dict[Key, Found]:
        if not keys:
            return {}
        function, retries = self._params.function, self._params.retries
        found = dict(zip(keys, function.lookup(keys), strict=True))
        for _ in range(retries.attempts if retries is not None else 0):
            missing = [key for key, rows in found.items() if not rows]
            if not missing or retries is None:
                break
            time.sleep(retries.delay_ms / 1000)
            found |= zip(missing, function.lookup(missing), strict=True)
        return found


class RowPairs:
    """Rows of the left with those that were found for them, as columns of the join."""

    def __init__(self, params: LookupJoinParams, output: TableCodec, context: SubtaskContext) -> None:
        self._params = params
        self._output = output
        self._context = context
        tested = () if params.condition is None else (params.condition,)
        self.functions = UserFunctions(functions_in((*tested, *(params.computed or ()))), context)

    def joined(self, arrays: list[pa.Array], kinds: Kinds | None, found: Sequence[Found]) -> Batch | None:
        counts = np.fromiter(map(len, found), np.int64, len(found))
        rows = np.repeat(np.arange(len(found)), counts)
        others = np.arange(len(rows))
        right = self._columns([row for some in found for row in some])
        if self._params.condition is not None and len(rows):
            both = [*(array.take(pa.array(rows)) for array in arrays), *right]
            hold = matching(self._params.condition, both, len(rows), self._session())
            rows, others = rows[hold], others[hold]
        if self._params.kind == "LEFT":
            alone = np.setdiff1d(np.arange(len(found)), rows)
            rows, others = np.concatenate([rows, alone]), np.concatenate([others, np.full(len(alone), -1)])
            order = np.argsort(rows, kind="stable")
            rows, others = rows[order], others[order]
        if not len(rows):
            return None
        chosen, theirs = pa.array(rows), pa.array(others, pa.int64(), mask=others < 0)
        columns = [*(array.take(chosen) for array in arrays), *(array.take(theirs) for array in right)]
        return self._output.batch(columns, None if kinds is None else kinds[rows], len(rows))

    def _columns(self, rows: list[Any]) -> list[pa.Array]:
        row_type = self._params.right_type
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(row_type)
        described = zip(cells, row_type.types, row_type.names, strict=True)
        columns = [column_of(values, kind, name) for values, kind, name in described]
        if self._params.computed is None:
            return columns
        return project(self._params.computed, columns, len(rows), self._session())

    def _session(self) -> Session:
        return session_at(self._params.session, self._context.clock())
