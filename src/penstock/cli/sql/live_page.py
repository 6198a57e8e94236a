"""A page on the terminal that is drawn over itself while it changes."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

_REDRAW_SECONDS = 0.25
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"  # wide rows are cut, so that a line of the page is one of the terminal


class LivePage:
    """Draws at most every quarter of a second, never in the middle of a change, and always after the last one.

    `lines` makes the page of whatever is changed within `changing()`.
    """

    def __init__(self, lines: Callable[[], list[str]]) -> None:
        self._lines = lines
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._drawn = 0
        self._thread = threading.Thread(target=self._run, name="penstock-live-page", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """What was drawn last stays if the query was interrupted; else something final takes its place."""
        self._ended.set()
        self._changed.set()
        self._thread.join()
        if error is None:
            self._clear()

    @contextmanager
    def changing(self) -> Iterator[None]:
        with self._lock:
            yield
        self._changed.set()

    def _run(self) -> None:
        while True:
            self._changed.wait()
            if self._ended.is_set():
                return
            self._changed.clear()
            with self._lock:
                lines = self._lines()
            self._clear()
            sys.stdout.write(_NO_WRAP + "\n".join(lines) + "\n" + _WRAP)
            sys.stdout.flush()
            self._drawn = len(lines)
            self._ended.wait(_REDRAW_SECONDS)

    def _clear(self) -> None:
        if self._drawn:
            sys.stdout.write(f"\x1b[{self._drawn}F\x1b[J")
        self._drawn = 0


def page_height() -> int:
    return shutil.get_terminal_size().lines
