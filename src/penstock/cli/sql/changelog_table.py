"""The rows that a changelog leaves, as the result mode TABLE shows them."""

from __future__ import annotations

from collections.abc import Sequence

_Row = tuple[str, ...]


class ChangelogTable:
    """Rows in the order in which they were added, and where they were when they are updated; the last ones of many."""

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._rows: dict[int, _Row | None] = {}
        self._places: dict[_Row, list[int]] = {}
        self._next = 0
        self._vacant: int | None = None  # the place of a row whose new version follows
        self.changes = 0

    def apply(self, kind: str, row: _Row) -> None:
        self.changes += 1
        vacant, self._vacant = self._vacant, None
        if kind == "+U" and vacant is not None:
            self._put(vacant, row)
            return
        if vacant is not None:
            del self._rows[vacant]
        if kind in ("+I", "+U"):
            self._put(self._next, row)
            self._next += 1
            if len(self._rows) > self._most_rows:
                first = next(iter(self._rows))
                self._take(self._rows[first], first=True)
                del self._rows[first]
        else:
            place = self._take(row)
            if place is not None and kind == "-U":
                self._rows[place], self._vacant = None, place
            elif place is not None:
                del self._rows[place]

    def _put(self, place: int, row: _Row) -> None:
        self._rows[place] = row
        self._places.setdefault(row, []).append(place)

    def _take(self, row: _Row | None, first: bool = False) -> int | None:
        """The place of a row, which it has no longer."""
        places = self._places.get(row) if row is not None else None
        if row is None or not places:
            return None
        place = places.pop(0 if first else -1)
        if not places:
            del self._places[row]
        return place

    def rows(self) -> Sequence[_Row]:
        return [row for row in self._rows.values() if row is not None]
