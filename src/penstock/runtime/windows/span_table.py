"""Contents of aligned windows and slices: physically by span and then by key, in savepoints by (key, span).

Grouped by span, a batch looks its span up once, a window ends with one removal for all keys, and no key needs a timer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.runtime.state.table import ABSENT, MapTable, sliced
from penstock.runtime.windows.column_folding import ColumnFolding, Part
from penstock.runtime.windows.folding import Folding
from penstock.runtime.windows.slices import Span

_KEYS_AT_ONCE = 1 << 16
_PENDING_ROWS = 1 << 20


class TouchedKeys:
    """Keys of one span, each any number of times; they are made a set before they become many."""

    def __init__(self) -> None:
        self._parts: list[Sequence[Any]] = []
        self._waiting = 0
        self._set: set[Any] = set()

    def add(self, keys: Sequence[Any]) -> None:
        self._parts.append(keys)
        self._waiting += len(keys)
        if self._waiting > max(_KEYS_AT_ONCE, 2 * len(self._set)):
            self.distinct()

    def distinct(self) -> Iterable[Any]:
        self._set.update(*self._parts)
        self._parts.clear()
        self._waiting = 0
        return self._set


class ColumnSpan:
    """The accumulators of a span in columns: as of the last snapshot, and what came since then."""

    def __init__(self) -> None:
        self.settled: Part | None = None
        self.pending: list[Part] = []
        self.loaded: list[Part] = []  # deltas of a log that came after what is settled, the newest last
        self.waiting = 0
        self.compacted = False  # since the last snapshot: it is not known what has changed

    def add(self, part: Part) -> None:
        self.pending.append(part)
        self.waiting += len(part)

    def fits(self, part: Part) -> bool:
        return all(known.schema == part.schema for known in self.parts()[:1])

    def settle(self, folded: Part) -> None:
        self.settled, self.pending, self.waiting = folded, [], 0

    def parts(self) -> list[Part]:
        if self.loaded:
            known = [] if self.settled is None else [self.settled]
            self.settled, self.loaded = ColumnFolding.latest([*known, *self.loaded]), []
        return self.pending if self.settled is None else [self.settled, *self.pending]


class SpanTable:
    """Span -> key -> accumulator; each span has rows or columns.

    Loops write the entries of rows alone. Which keys they touched is noted by whole batches, and the delta reads the
    values of those keys when the epoch ends: a window that fires in the epoch in which it began never pays for it.
    Columns on disk would not be on disk: there they wait only for the end of the epoch.
    """

    def __init__(self, rows: MapTable, on_disk: bool, folding: Folding, columns: ColumnFolding | None) -> None:
        self._rows = rows
        self._on_disk = on_disk
        self._folding = folding
        self._columns = columns
        self._touched: dict[Span, TouchedKeys] = {}
        self._spans: dict[Span, ColumnSpan] = {}
        self._left_columns: set[Span] = set()

    @property
    def base(self) -> Mapping[Span, Any]:
        """Spans that hold anything."""
        return {**dict.fromkeys(self._rows.base), **dict.fromkeys(self._spans)}

    def __contains__(self, span: Span) -> bool:
        return span in self._spans or span in self._rows.base

    # -- rows --------------------------------------------------------------------------------------------------

    def add_rows(self, span: Span, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        self._folding.add_run(self._writable(span, keys), keys, values, orders)

    def put(self, span: Span, key: Any, accumulator: Any) -> None:
        self._leave_columns(span)
        self._rows.put(span, key, accumulator)

    def entries(self, span: Span) -> Mapping[Any, Any]:
        """Key -> accumulator, not to be changed."""
        self._leave_columns(span)
        return self._rows.base.get(span, {})

    def remove(self, span: Span) -> None:
        self._touched.pop(span, None)
        self._rows.remove(span)
        if self._spans.pop(span, None) is not None:
            self._left_columns.add(span)

    def keys(self) -> Iterator[Any]:
        yield from self.base

    def _writable(self, span: Span, keys: Sequence[Any]) -> dict[Any, Any]:
        self._leave_columns(span)
        touched = self._touched.get(span)
        if touched is None:
            touched = self._touched[span] = TouchedKeys()
        touched.add(keys)
        return self._rows.writable(span)[0]

    # -- columns -----------------------------------------------------------------------------------------------

    def add_columns(self, span: Span, part: Part) -> None:
        """Adds rows of a part, as columns if the span can have them."""
        held = self._spans.get(span)
        if held is None:
            held = self._begin_columns(span, part)
        if held is not None and held.fits(part):
            held.add(part)
            if held.waiting > _PENDING_ROWS:
                self._compact(span, held)
            return
        columns = self._columns
        assert columns is not None
        self.add_rows(span, columns.keys(part), columns.records(part), columns.orders(part))

    def part(self, span: Span) -> list[Part] | None:
        """The parts of a span that has columns; None if it has rows."""
        held = None if self._on_disk else self._spans.get(span)
        return None if held is None else held.parts()

    def _begin_columns(self, span: Span, part: Part) -> ColumnSpan | None:
        held = ColumnSpan()
        if self._on_disk:
            if not self._folding.mergeable:
                return None  # rows that are there already could not be merged with columns
        elif span in self._rows.base:
            assert self._columns is not None
            known = self._columns.from_entries(self._rows.base[span], part)
            if known is None:
                return None
            self._touched.pop(span, None)
            self._rows.remove(span)
            held.add(known)
        self._spans[span] = held
        return held

    def _compact(self, span: Span, held: ColumnSpan) -> None:
        """Folds what has come, so that memory holds no more than the keys."""
        assert self._columns is not None
        folded = self._columns.fold(held.parts())
        if folded is None:
            self._leave_columns(span)
        else:
            held.settle(folded[0])
            held.compacted = True

    def _leave_columns(self, span: Span) -> None:
        """Makes the accumulators of a span rows."""
        held = self._spans.pop(span, None)
        if held is None:
            return
        assert self._columns is not None
        self._left_columns.add(span)
        folded = self._columns.fold(held.parts())
        parts = held.parts() if folded is None else [folded[0]]
        entries, touched = self._rows.writable(span)[0], []
        get, merge = entries.get, self._folding.merge
        for key, accumulator in chain.from_iterable(map(self._columns.entries, parts)):
            known = get(key, ABSENT)
            entries[key] = accumulator if known is ABSENT else merge(known, accumulator)
            touched.append(key)
        self._touched.setdefault(span, TouchedKeys()).add(touched)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def take_delta(self) -> Any:
        changed = self._settle_columns()
        for span, touched in self._touched.items():
            if span in self._rows.base:
                entries, changes = self._rows.writable(span)
                keys = [key for key in touched.distinct() if key in entries]
                changes.update(zip(keys, map(entries.__getitem__, keys), strict=True))
        self._touched.clear()
        rows = self._rows.take_delta()
        return None if rows is None and not changed else (rows, changed)

    def _settle_columns(self) -> dict[Span, Part | None]:
        changed: dict[Span, Part | None] = {}
        for span, held in list(self._spans.items()):
            if self._on_disk:
                self._leave_columns(span)
                continue
            if held.pending or held.compacted:
                changed[span] = self._settled(span, held)
        if not self._on_disk:
            changed.update((span, None) for span in self._left_columns if span not in self._spans)
        self._left_columns.clear()
        return {span: part for span, part in changed.items() if part is not None or span not in self._spans}

    def _settled(self, span: Span, held: ColumnSpan) -> Part | None:
        """Folds a span, and returns the rows of the keys that changed; None if it became rows."""
        assert self._columns is not None
        parts = held.parts()
        known = 0 if held.settled is None or held.compacted else len(held.settled)
        folded = self._columns.fold(parts)
        if folded is None:
            self._leave_columns(span)
            return None
        held.settle(folded[0])
        held.compacted = False
        return folded[0].take(pa.array(np.unique(folded[1][known:]))) if known else folded[0]

    def full_delta(self) -> Any:
        return self._rows.full_delta(), {span: held.parts()[0] for span, held in self._spans.items()}

    def apply_delta(self, delta: Any) -> None:
        rows, columns = delta or (None, {})  # of a store the pages are there already
        if rows is not None:
            self._rows.apply_delta(rows)
        for span, part in columns.items():
            if part is None:
                self._spans.pop(span, None)
            else:
                self._spans.setdefault(span, ColumnSpan()).loaded.append(part)

    def discover(self) -> None:
        """After pages of a store were loaded: which spans are there?"""
        self._rows.discover()  # type: ignore[attr-defined]

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        """As savepoints have them, asked for right after take_delta()."""
        return self.saved(entries, lambda accumulator: self._folding.saved(accumulator)[0])

    def saved(self, entries: int, save: Callable[[Any], Any]) -> Iterator[dict[Any, Any]]:
        for span, accumulators in self.all_entries():
            for piece in sliced(accumulators, entries):
                yield dict(zip(zip(piece, repeat(span), strict=False), map(save, piece.values()), strict=True))

    def all_entries(self) -> Iterator[tuple[Span, Iterable[tuple[Any, Any]]]]:
        for span, accumulators in self._rows.base.items():
            yield span, accumulators.items()
        for span, held in self._spans.items():
            assert self._columns is not None
            yield span, chain.from_iterable(map(self._columns.entries, held.parts()))


class SliceTable(SpanTable):
    """Parts of windows: savepoints also have the order in which their first records came."""

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        return self.saved(entries, self._folding.saved)


class ElementTable:
    """Span -> key -> elements in order of arrival, in memory; a delta has what was appended."""

    def __init__(self) -> None:
        self.base: dict[Span, dict[Any, list[Any]]] = {}
        self._saved: dict[Span, dict[Any, int]] = {}  # how many elements snapshots have
        self._touched: dict[Span, None] = {}

    def __contains__(self, span: Span) -> bool:
        return span in self.base

    def add_rows(self, span: Span, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        lists = self.base.setdefault(span, {})
        self._touched[span] = None
        get = lists.get
        for key, value in zip(keys, values, strict=True):
            elements = get(key)
            if elements is None:
                lists[key] = [value]
            else:
                elements.append(value)

    def put(self, span: Span, key: Any, elements: list[Any]) -> None:
        self.base.setdefault(span, {})[key] = elements
        self._touched[span] = None

    def entries(self, span: Span) -> Mapping[Any, list[Any]]:
        return self.base.get(span, {})

    def part(self, span: Span) -> None:
        return None

    def remove(self, span: Span) -> None:
        if self.base.pop(span, None) is not None:
            self._touched[span] = None
            self._saved.pop(span, None)

    def keys(self) -> Iterator[Any]:
        yield from self.base

    def take_delta(self) -> Any:
        delta: dict[Span, dict[Any, list[Any]] | None] = {}
        for span in self._touched:
            delta[span] = self._appended(span) if span in self.base else None
        self._touched.clear()
        return delta or None

    def _appended(self, span: Span) -> dict[Any, list[Any]]:
        saved, appended = self._saved.setdefault(span, {}), {}
        for key, elements in self.base[span].items():
            known = saved.get(key, 0)
            if len(elements) > known:
                appended[key] = elements[known:]
                saved[key] = len(elements)
        return appended

    def full_delta(self) -> Any:
        return self.base

    def apply_delta(self, delta: Any) -> None:
        for span, appended in delta.items():
            if appended is None:
                self.base.pop(span, None)
                self._saved.pop(span, None)
                continue
            lists, saved = self.base.setdefault(span, {}), self._saved.setdefault(span, {})
            for key, elements in appended.items():
                lists.setdefault(key, []).extend(elements)
                saved[key] = len(lists[key])

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        for span, lists in self.base.items():
            for piece in sliced(lists.items(), entries):
                yield {(key, span): (True, elements) for key, elements in piece.items()}
