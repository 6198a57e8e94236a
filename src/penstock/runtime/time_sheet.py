"""Whose code runs in a container at a moment, and so how long each operator is busy itself."""

from __future__ import annotations

import threading
import time
from typing import Protocol

from penstock.runtime.stack_samples import Stacks


class Worker(Protocol):
    busy_ns: int
    stacks: Stacks


class TimeSheet:
    """Operators of a chain call each other: time counts for the innermost."""

    __slots__ = ("__weakref__", "_since", "current", "thread")

    def __init__(self) -> None:
        self.current: Worker | None = None
        self.thread = threading.get_ident()
        self._since = 0

    def switch(self, to: Worker | None) -> Worker | None:
        """Says who works from now on; returns who did before."""
        now, before = time.perf_counter_ns(), self.current
        if before is not None:
            before.busy_ns += now - self._since
        self._since, self.current = now, to
        return before

    def here(self) -> None:
        """The container runs on this thread from now on."""
        self.thread = threading.get_ident()
