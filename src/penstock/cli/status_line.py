"""The one live line at the bottom of the terminal while a job runs.

Not rich's Live: that would send what the program prints to stderr and wrap long lines.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

_CLEAR = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


class StatusLine:
    """Draws on stderr; steps aside whenever the program itself writes to the terminal."""

    def __init__(self, console: Console | None = None) -> None:
        # With the real stderr, not whatever sys.stderr is later: drawing must not pass through the guard.
        self._console = console or Console(file=sys.stderr, highlight=False)
        self._lock = threading.RLock()
        self._drawn = False
        self._line_is_open = False
        self._replaced: list[tuple[str, _Considerate, TextIO]] = []

    def guard_standard_streams(self) -> None:
        """Lets prints to a terminal take the status line away first; pipes and files are left alone."""
        for name in ("stdout", "stderr"):
            original: TextIO = getattr(sys, name)
            if original.isatty():
                guarded = _Considerate(original, self)
                setattr(sys, name, guarded)
                self._replaced.append((name, guarded, original))

    def update(
        self,
        state: str,
        epoch: int,
        records_in: int,
        records_out: int,
        rate: float,
        watermark_lag_ms: int | None,
    ) -> None:
        lag = "-" if watermark_lag_ms is None else format_duration(watermark_lag_ms)
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(state, style="bold")
        text.append(
            f"  epoch {epoch:,}  in {records_in:,}  out {records_out:,}  {rate:,.0f} records/s  watermark lag {lag}"
        )
        with self._lock:
            if self._line_is_open:
                return  # the program is in the middle of a line of its own
            # One column short: a full line would wrap, and could then not be erased.
            text.truncate(max(1, self._console.width - 1), overflow="ellipsis")
            self._console.control(_CLEAR)
            self._console.print(text, end="", soft_wrap=True)
            self._console.file.flush()
            self._drawn = True

    def write_around(self, stream: TextIO, text: str) -> int:
        """Writes for the program; a line that it has begun stays untouched until it ends it."""
        with self._lock:
            self._erase()
            if text:
                self._line_is_open = not text.endswith("\n")
            return stream.write(text)

    def close(self) -> None:
        with self._lock:
            self._erase()
            for name, guarded, original in self._replaced:
                if getattr(sys, name) is guarded:  # else the program has put something else there
                    setattr(sys, name, original)
            self._replaced.clear()

    def _erase(self) -> None:
        if self._drawn:
            self._console.control(_CLEAR)
            self._console.file.flush()
            self._drawn = False


class _Considerate:
    """A standard stream that takes the status line away before it writes."""

    def __init__(self, stream: TextIO, status_line: StatusLine) -> None:
        self._stream = stream
        self._status_line = status_line

    def write(self, text: str) -> int:
        return self._status_line.write_around(self._stream, text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def format_duration(milliseconds: int) -> str:
    """Two significant units at most: 850 ms, 1.2 s, 3 min 5 s, 2 h 10 min."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
