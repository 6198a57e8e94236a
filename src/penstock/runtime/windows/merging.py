"""The open windows of a key that may grow together, and where the contents of each one are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.functions.state_descriptors import MapStateDescriptor
from penstock.functions.window_assigners import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    MergingWindowAssigner,
    ProcessingTimeSessionWindows,
)
from penstock.functions.window_types import TimeWindow
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.table import MapTable
from penstock.runtime.windows.saved_contents import WINDOW_SETS
from penstock.runtime.windows.tokens import Token, token_of, window_of

# (result, merged windows, token of the result's contents, tokens of the contents that move there)
OnMerge = Callable[[Any, Sequence[Any], Token, Sequence[Token]], None]

_INTERVAL_ASSIGNERS = frozenset(
    {
        EventTimeSessionWindows,
        ProcessingTimeSessionWindows,
        DynamicEventTimeSessionWindows,
        DynamicProcessingTimeSessionWindows,
    }
)


class _Groups(MergingWindowAssigner.MergeCallback[Any]):
    def __init__(self) -> None:
        self.groups: list[tuple[list[Any], Any]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self.groups.append((list(to_be_merged), merge_result))


class MergingWindows:
    """Window -> token of its contents, per key.

    Contents stay where the first window put them: after a merge only the smaller part moves.
    """

    def __init__(self, backend: KeyedStateBackend, assigner: MergingWindowAssigner[Any, Any]) -> None:
        self._table: MapTable = backend.table(WINDOW_SETS, MapStateDescriptor)
        self._assigner = assigner
        self._merges_intervals = type(assigner) in _INTERVAL_ASSIGNERS

    def contents_of(self, key: Any, window: Any) -> Token:
        """Token of the window's contents; raises KeyError for a window that is gone."""
        return self._table.base[key][token_of(window)]

    def put(self, key: Any, token: Token, place: Token) -> None:
        """A window that a savepoint has, and where its contents are."""
        self._table.put(key, token, place)

    def retire(self, key: Any, window: Any) -> None:
        self._table.remove_entry(key, token_of(window))

    def add(self, key: Any, window: Any, on_merge: OnMerge) -> Any:
        """Takes in the window of a new element; returns the window that the element belongs to now."""
        token = token_of(window)
        entries = self._table.base.get(key) or {}
        if token in entries:
            return window
        result, merged_new = window, False
        for group, merge_result in self._groups(entries, window):
            if window in group:
                group.remove(window)
                merged_new, result = True, merge_result
            self._merge(key, group, merge_result, on_merge)
        if not merged_new:
            self._table.put(key, token, token)
        return result

    def _groups(self, entries: dict[Token, Token], window: Any) -> list[tuple[list[Any], Any]]:
        if self._merges_intervals:
            return _touching(entries, window)
        callback = _Groups()
        self._assigner.merge_windows([*map(window_of, entries), window], callback)
        return callback.groups

    def _merge(self, key: Any, group: list[Any], result: Any, on_merge: OnMerge) -> None:
        table = self._table
        if not group:
            table.put(key, token_of(result), token_of(result))
            return
        entries = table.base[key]
        contents = [entries[token_of(window)] for window in group]
        target = contents[0]
        # The key keeps its other windows: entries go one by one, the result last so that it may reuse a token.
        table.put(key, token_of(result), target)
        for window in group:
            if window != result:
                table.remove_entry(key, token_of(window))
        if not (len(group) == 1 and group[0] == result):
            on_merge(result, group, target, contents[1:])


def _touching(entries: dict[Token, Token], window: TimeWindow) -> list[tuple[list[Any], Any]]:
    """The same groups as TimeWindow.merge_windows, knowing that the open windows do not touch each other."""
    start, end = window.start, window.end
    group = [token for token in entries if token[0] <= end and token[1] >= start]
    if not group:
        return []
    group.sort()
    covering = TimeWindow(min(start, group[0][0]), max(end, group[-1][1]))
    return [([*(TimeWindow(*token) for token in group), window], covering)]
