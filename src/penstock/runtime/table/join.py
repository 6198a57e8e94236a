"""Regular joins of two changelogs: every row of one side meets all rows of the other side, for ever.

While a batch of one side is processed the other side does not change. So all pairs of a batch are found at once, and
only the rows of a side that come and go among each other are looked at one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session
from penstock.columns.typed.evaluation import matching
from penstock.columns.typed.nodes import Typed
from penstock.runtime.batch import Batch, Kinds
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Booleans, Integers
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec, with_kinds
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.pair_condition import JoiningOperator
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_removal import RowRemoval
from penstock.runtime.table.row_store import row_store
from penstock.runtime.table.row_type import TableRowType

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
_MATCHES, _TOUCHED = "matches", "touched"
_MANY_PAIRS = 1 << 20  # a batch that makes more is cut


@dataclass(frozen=True)
class SideParams:
    """One input: identity are the columns that tell a row which is taken back; None if rows only come."""

    row_type: TableRowType
    keys: tuple[int, ...]
    identity: tuple[int, ...] | None = None
    unique: bool = False  # whether the identity is a unique key
    ttl: int = 0  # milliseconds; 0: for ever


@dataclass(frozen=True)
class JoinParams:
    """kind is INNER, LEFT, RIGHT, FULL, SEMI or ANTI; the condition sees the columns of both, left first."""

    kind: str
    left: SideParams
    right: SideParams
    nulls_match: tuple[bool, ...]  # for each key, whether NULL is equal to NULL
    condition: Typed | None = None
    session: Session = Session()


class _Side:
    """The rows of one input."""

    def __init__(self, operator: JoinOperator, name: str, params: SideParams, outer: bool, counts: bool) -> None:
        self.params = params
        self.outer = outer
        self.counts = counts  # whether rows know how many of the other side they match
        self.codec = TableCodec(params.row_type)
        notes = ((_MATCHES,) if counts else ()) + ((_TOUCHED,) if params.ttl else ())
        self.store = row_store(operator, name, self.codec.schema, self.key_column_of, notes)
        self._chains = RowChains(self.store)
        self._removal: RowRemoval | None = None
        if params.identity is not None:
            self._removal = RowRemoval(self.store, params.identity, params.row_type.types, params.unique)

    def key_column_of(self, columns: pa.RecordBatch) -> pa.Array:
        places, types = self.params.keys, self.params.row_type.types
        chosen = [columns.column(place) for place in places]
        return key_column(chosen, [types[place] for place in places], columns.num_rows)

    def rebuild(self) -> None:
        self._chains.rebuild()
        if self._removal is not None:
            self._removal.chains.rebuild()

    def find(self, keys: pa.Array, now: int) -> tuple[Integers, Integers]:
        """Pairs: the position of a key, and the number of a row."""
        positions, numbers = self._chains.find(keys)
        if self.params.ttl and len(numbers):
            fresh = self.store.note(_TOUCHED)[numbers] + self.params.ttl > now
            positions, numbers = positions[fresh], numbers[fresh]
        return positions, numbers

    def change(self, keys: pa.Array, columns: pa.RecordBatch, adds: Booleans, matches: Integers, now: int) -> Booleans:
        """Brings the batch into the state; tells which rows took the place of another one."""
        if not len(adds):
            return adds
        notes = {_MATCHES: matches[adds]} if self.counts else {}
        if self.params.ttl:
            notes[_TOUCHED] = np.full(int(np.count_nonzero(adds)), now)
        mask = None if adds.all() else pa.array(adds)
        numbers = self.store.append(columns if mask is None else columns.filter(mask), **notes)
        self._chains.add(keys if mask is None else keys.filter(mask), numbers)
        replaces = np.zeros(len(adds), np.bool_)
        if self._removal is not None:
            gone, replaces = self._removal.change(columns, adds, numbers)
            self.store.delete(gone)
            self._tidy()
        return replaces

    def _tidy(self) -> None:
        if self.store.compact():
            self.rebuild()

    def expire(self, now: int) -> None:
        if self.params.ttl:
            numbers = self.store.numbers()
            self.store.delete(numbers[self.store.note(_TOUCHED)[numbers] + self.params.ttl <= now])
            self._tidy()

    def count_matches(self, numbers: Integers, steps: Integers, now: int) -> Integers:
        """Adds steps to the matches of rows, in this order; returns what each was before its step."""
        known = self.store.note(_MATCHES)
        order = np.argsort(numbers, kind="stable")
        sorted_numbers, sorted_steps = numbers[order], steps[order]
        first = np.r_[True, sorted_numbers[1:] != sorted_numbers[:-1]]
        until = np.cumsum(sorted_steps) - sorted_steps
        start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        before = np.empty(len(order), np.int64)
        before[order] = known[sorted_numbers] + until - until[start]
        last = np.r_[first[1:], True]
        after = before[order[last]] + sorted_steps[last]
        self.store.set_note(_MATCHES, sorted_numbers[last], after)
        if self.params.ttl:
            self.store.set_note(_TOUCHED, sorted_numbers[last], np.full(len(after), now))
        return before


class _Input(NamedTuple):
    """A batch on its way through the join."""

    columns: pa.RecordBatch
    kinds: Kinds
    adds: Booleans
    rows: Integers  # pairs: the row of the batch,
    numbers: Integers  # and that of the other side
    replaces: Booleans


class JoinOperator(JoiningOperator):
    """Emits what Flink's StreamingJoinOperator and StreamingSemiAntiJoinOperator emit, in the same order."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: JoinParams = blueprint.params["join"]
        self._params = params
        self._one_sided = params.kind in ("SEMI", "ANTI")
        left_outer, right_outer = params.kind in ("LEFT", "FULL"), params.kind in ("RIGHT", "FULL")
        self._sides = (
            _Side(self, "left-records", params.left, left_outer, left_outer or self._one_sided),
            _Side(self, "right-records", params.right, right_outer, right_outer),
        )
        self._output = TableCodec(blueprint.output_type)

    def loaded(self) -> None:
        for side in self._sides:
            side.rebuild()

    def end_epoch(self) -> None:
        for side in self._sides:
            side.expire(self.context.clock())

    def process(self, batch: Batch, input_index: int) -> None:
        own, other = self._sides[input_index], self._sides[1 - input_index]
        batch = batch.in_columns(own.codec)
        arrays = own.codec.arrays(batch)
        columns = pa.RecordBatch.from_arrays(arrays, schema=own.codec.schema)
        self._part(own, other, columns, with_kinds(batch), own.key_column_of(columns))

    def _part(self, own: _Side, other: _Side, columns: pa.RecordBatch, kinds: Kinds, keys: pa.Array) -> None:
        now = self.context.clock()
        known = self._can_match(own, columns)
        asked = keys if known is None else keys.filter(pa.array(known))
        rows, numbers = other.find(asked, now)
        if len(numbers) > _MANY_PAIRS and len(keys) > 1:
            middle = len(keys) // 2
            self._part(own, other, columns.slice(0, middle), kinds[:middle], keys.slice(0, middle))
            self._part(own, other, columns.slice(middle), kinds[middle:], keys.slice(middle))
            return
        if known is not None:
            rows = np.flatnonzero(known)[rows]
        rows, numbers = self._meeting(own, other, columns, rows, numbers)
        adds = (kinds == INSERT) | (kinds == UPDATE_AFTER)
        matches = np.bincount(rows, minlength=len(keys))
        if known is None:
            replaces = own.change(keys, columns, adds, matches, now)
        else:  # a row that can match nothing needs no state
            replaces = np.zeros(len(keys), np.bool_)
            replaces[known] = own.change(asked, columns.filter(pa.array(known)), adds[known], matches[known], now)
        given = _Input(columns, kinds, adds, rows, numbers, replaces)
        if not self._one_sided:
            self._emit_joined(own, other, given, matches, now)
        elif own is self._sides[0]:
            self._emit_left(own, given, matches)
        else:
            self._emit_changed(other, given, now)

    def _can_match(self, own: _Side, columns: pa.RecordBatch) -> Booleans | None:
        """Rows whose keys can be equal to others; None for all."""
        found: Booleans | None = None
        for place, nulls_match in zip(own.params.keys, self._params.nulls_match, strict=True):
            column = columns.column(place)
            if column.null_count and not nulls_match:
                valid = column.is_valid().to_numpy(zero_copy_only=False)
                found = valid if found is None else found & valid
        return found

    def _meeting(
        self, own: _Side, other: _Side, columns: pa.RecordBatch, rows: Integers, numbers: Integers
    ) -> tuple[Integers, Integers]:
        """The pairs for which the condition holds."""
        condition = self._params.condition
        if condition is None or not len(rows):
            return rows, numbers
        ours, theirs = columns.take(pa.array(rows)).columns, other.store.take(numbers)
        both = [*ours, *theirs] if own is self._sides[0] else [*theirs, *ours]
        session = session_at(self._params.session, self.context.clock())
        hold = matching(condition, both, len(rows), session)
        return rows[hold], numbers[hold]

    # -- results -----------------------------------------------------------------------------------------------

    def _emit_joined(self, own: _Side, other: _Side, given: _Input, matches: Integers, now: int) -> None:
        rows, numbers = given.rows, given.numbers
        plain = np.where(given.adds, INSERT, DELETE).astype(np.int8)
        kinds = plain if own.outer or other.outer else given.kinds
        if not own.outer and not other.outer:
            self._emit_pairs(own, other, given.columns, rows, numbers, kinds[rows])
            return
        # Each pair may come with the padded row of the other side: taken back before it, or given back after it.
        found = [(rows, numbers, kinds[rows], np.ones(len(rows), np.int8), np.arange(len(rows)))]
        if other.outer and len(rows):
            adds = given.adds[rows]
            steps = np.where(adds, np.where(given.replaces[rows], 0, 1), -1)
            before = other.count_matches(numbers, steps, now)
            for chosen, kind, phase in ((adds & (before == 0), DELETE, 0), (~adds & (before == 1), INSERT, 2)):
                pairs = np.flatnonzero(chosen)
                size = len(pairs)
                found.append(
                    (rows[pairs], numbers[pairs], np.full(size, kind, np.int8), np.full(size, phase, np.int8), pairs)
                )
        padded = np.flatnonzero(matches == 0) if own.outer else np.zeros(0, np.int64)
        if len(padded):
            nothing = np.full(len(padded), -1)
            found.append((padded, nothing, plain[padded], np.zeros(len(padded), np.int8), nothing))
        rows, numbers, kinds, phases, pairs = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.lexsort((phases, pairs, rows))
        rows, numbers, kinds, phases = rows[order], numbers[order], kinds[order], phases[order]
        alone = (phases != 1) & (numbers >= 0)  # padded rows of the other side
        self._emit_pairs(own, other, given.columns, np.where(alone, -1, rows), numbers, kinds)

    def _emit_pairs(
        self, own: _Side, other: _Side, columns: pa.RecordBatch, rows: Integers, numbers: Integers, kinds: Kinds
    ) -> None:
        if not len(rows):
            return
        ours = columns.take(pa.array(rows, mask=rows < 0)).columns
        theirs = other.store.take(numbers, numbers >= 0)
        both = [*ours, *theirs] if own is self._sides[0] else [*theirs, *ours]
        self._emit(both, kinds)

    def _emit_left(self, own: _Side, given: _Input, matches: Integers) -> None:
        """A row of the left side of a semi or anti join."""
        chosen = np.flatnonzero((matches > 0) == (self._params.kind == "SEMI"))
        if len(chosen):
            self._emit(given.columns.take(pa.array(chosen)).columns, given.kinds[chosen])

    def _emit_changed(self, left: _Side, given: _Input, now: int) -> None:
        """Rows of the left side that got their first match, or lost the last one."""
        if not len(given.rows):
            return
        adds = given.adds[given.rows]
        before = left.count_matches(given.numbers, np.where(adds, np.where(given.replaces[given.rows], 0, 1), -1), now)
        chosen = np.flatnonzero(np.where(adds, before == 0, before == 1))
        if not len(chosen):
            return
        if self._params.kind == "SEMI":
            kinds = given.kinds[given.rows[chosen]]
        else:
            kinds = np.where(adds[chosen], DELETE, INSERT).astype(np.int8)
        self._emit(left.store.take(given.numbers[chosen]), kinds)

    def _emit(self, columns: list[pa.Array], kinds: Kinds) -> None:
        self.output.emit(self._output.batch(columns, kinds if kinds.any() else None, len(kinds)))
