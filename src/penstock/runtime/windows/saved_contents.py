"""What savepoints hold of windows, the same whichever path wrote it, and what an operator makes of it.

Each table is by (key, window). Which of them there are says what a window holds: elements, elements with timestamps
for an evictor, or accumulators; of sliding and cumulative windows also slices, which several windows share. The
contents of merging windows may lie at another window of theirs: then WINDOW_SETS says where.
"""

from __future__ import annotations

from typing import Any, Protocol

from penstock.common.errors import ProgramError
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.state.table import ABSENT
from penstock.runtime.windows.folding import Folding, own
from penstock.runtime.windows.settings import WindowSettings
from penstock.runtime.windows.slices import slices_of
from penstock.runtime.windows.version_2 import VERSION_2_CONTENTS

ACCUMULATORS = "_window_accumulators"
SLICES = "_window_slices"  # (accumulator, order of its first record)
ELEMENTS = "_window_elements"
TIMED_ELEMENTS = "_window_timed_elements"  # (element, timestamp)
WINDOW_SETS = "_window_set"  # by key: window -> where its contents are
CONTENTS = (ACCUMULATORS, SLICES, ELEMENTS, TIMED_ELEMENTS, VERSION_2_CONTENTS)

Slot = tuple[Any, Any]  # key, window


class Restored(Protocol):
    """How an index takes over contents."""

    takes_slices: bool

    def get(self, slot: Slot) -> Any:
        """The accumulator of a window; ABSENT if there is none."""

    def put(self, slot: Slot, content: Any) -> None: ...

    def put_slice(self, slot: Slot, accumulator: Any) -> None: ...

    def restored(self, timed: set[Slot], merged: dict[Slot, Any]) -> None:
        """Everything is there: which windows have timers, and by place of contents the window that they belong to."""


class SavedContents:
    """Takes the tables of a savepoint one after the other, and brings them into the form that an operator keeps."""

    def __init__(self, settings: WindowSettings, folding: Folding | None, index: Restored) -> None:
        self._settings = settings
        self._folding = folding if settings.evictor is None else None
        self._index = index
        self._slices: list[tuple[int, Slot, Any]] = []
        self._merged: dict[Slot, Any] = {}

    def add(self, table: str, entries: dict[Any, Any]) -> None:
        if table == WINDOW_SETS:
            self._merged |= {
                (key, place): window for key, (_, windows) in entries.items() for window, place in windows.items()
            }
            return
        for slot, content in entries.items():
            if table == SLICES:
                self._add_slice(slot, *content)
            elif table == VERSION_2_CONTENTS:
                self._add_version_2(slot, content)
            elif table == ACCUMULATORS:
                self._index.put(slot, self._accumulating(slot).restored(content, 0))
            else:
                self._add_elements(slot, content[1], timed=table == TIMED_ELEMENTS)

    def _add_version_2(self, slot: Slot, content: Any) -> None:
        """It does not say what it holds: the program is taken to hold the same."""
        if self._folding is None:
            self._add_elements(slot, content[1], timed=self._settings.evictor is not None)
            return
        accumulator, slices = self._folding.restored_from_version_2(content), slices_of(self._settings.assigner)
        if slices is not None and slices.per_window > 1 and not slices.has(slot[1]):
            self._slices.append((slot[1][0], slot, accumulator))  # such parts hold what came in the order of time
        else:
            self._index.put(slot, accumulator)

    def _add_elements(self, slot: Slot, elements: list[Any], timed: bool) -> None:
        values = [value for value, _ in elements] if timed else elements
        if self._settings.evictor is not None:
            self._index.put(slot, elements if timed else [(value, MIN_TIMESTAMP) for value in values])
        else:
            self._index.put(slot, values if self._folding is None else self._folding.of_elements(values))

    def _add_slice(self, slot: Slot, content: Any, order: int) -> None:
        self._slices.append((order, slot, self._accumulating(slot).restored(content, order)))

    def _accumulating(self, slot: Slot) -> Folding:
        if self._folding is None:
            raise ProgramError(
                f"the savepoint holds results of reduce() or aggregate() for the window {slot[1]}, from which the "
                "elements cannot be had back, but the program keeps the elements of windows: use reduce() or "
                "aggregate() without an evictor as before, or give the operator another uid"
            )
        return self._folding

    def finish(self, timed: set[Slot], watermark: int) -> None:
        slices = slices_of(self._settings.assigner)
        for _, slot, accumulator in sorted(self._slices, key=lambda entry: entry[0]):
            (key, (start, end)) = slot
            if slices is None or end - start != slices.length or (start - slices.offset) % slices.length:
                raise ProgramError(
                    f"the savepoint holds parts of windows, each {end - start} ms long, which fit only the windows "
                    "that they were taken of: give the window the size, slide and offset that it had, or the operator "
                    "another uid"
                )
            if self._index.takes_slices:
                self._index.put_slice(slot, accumulator)
                continue
            for window in slices.windows(start):
                if window[1] - 1 + self._settings.allowed_lateness > watermark:  # earlier ones are over
                    self._put_merged((key, window), accumulator)
        self._index.restored(timed, self._merged)
        self._slices, self._merged = [], {}

    def _put_merged(self, slot: Slot, accumulator: Any) -> None:
        held, folding = self._index.get(slot), self._folding
        assert folding is not None
        self._index.put(slot, own(accumulator) if held is ABSENT else folding.merge_copies(held, accumulator))
