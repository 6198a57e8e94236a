"""The rows that a changelog leaves, as the result mode TABLE shows them."""

from __future__ import annotations

from collections.abc import Sequence

_Row = tuple[str, ...]


class ChangelogTable:
    """Rows in the order in which they were added; of many only the last ones are kept."""

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._rows: dict[int, _Row] = {}
        self._places: dict[_Row, list[int]] = {}
        self._next = 0
        self.changes = 0

    def apply(self, kind: str, row: _Row) -> None:
        self.changes += 1
        if kind in ("+I", "+U"):
            self._rows[self._next] = row
            self._places.setdefault(row, []).append(self._next)
            self._next += 1
            if len(self._rows) > self._most_rows:
                self._remove(next(iter(self._rows.values())), first=True)
        else:
            self._remove(row)

    def _remove(self, row: _Row, first: bool = False) -> None:
        places = self._places.get(row)
        if not places:
            return
        del self._rows[places.pop(0 if first else -1)]
        if not places:
            del self._places[row]

    def rows(self) -> Sequence[_Row]:
        return list(self._rows.values())
