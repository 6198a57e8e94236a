"""Waiting for something to read, also in processes with many open files: `select.select` refuses those above 1,023."""

from __future__ import annotations

import selectors
from typing import Protocol


class _HasFile(Protocol):
    def fileno(self) -> int: ...


def readable(*files: _HasFile | int, seconds: float | None = None) -> bool:
    """Whether one of them has something to read, now or within so many seconds; None waits for ever."""
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        return bool(selector.select(seconds))
