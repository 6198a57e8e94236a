"""Where the Python code of operators spends its time: a thread of the worker looks at the stacks of the others.

Only frames above the operator's own are kept: what is below is the same for all, and nobody's concern.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.runtime.time_sheet import TimeSheet

Stacks = dict[tuple[str, ...], int]  # frames from the outermost on, and how often they were seen

_DEEPEST = 100
_MOST_STACKS = 500
_MACHINERY = f"{os.sep}penstock{os.sep}runtime{os.sep}"


class StackSampler:
    """One thread for all containers of a process, alive as long as one of them is watched."""

    def __init__(self) -> None:
        self._watched: weakref.WeakSet[TimeSheet] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._pid = 0
        self._seconds = 0.05

    def watch(self, sheet: TimeSheet, interval_ms: int) -> None:
        with self._lock:
            self._watched.add(sheet)
            self._seconds = interval_ms / 1000
            if self._pid != os.getpid():  # a thread does not survive the fork of a worker
                self._pid = os.getpid()
                threading.Thread(target=self._run, name="penstock-stack-sampler", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(self._seconds)
            with self._lock:
                sheets = list(self._watched)
                if not sheets:
                    self._pid = 0
                    return
            frames = sys._current_frames()
            for sheet in sheets:
                station, frame = sheet.current, frames.get(sheet.thread)
                if station is not None and frame is not None:
                    count_stack(station.stacks, frame)


def count_stack(stacks: Stacks, frame: FrameType) -> None:
    names = stack_of(frame)
    if names in stacks or len(stacks) < _MOST_STACKS:
        stacks[names] = stacks.get(names, 0) + 1


def stack_of(frame: FrameType | None) -> tuple[str, ...]:
    """Function, file and line, the outermost first; our own machinery is one name at its bottom."""
    names: list[str] = []
    while frame is not None and len(names) < _DEEPEST:
        code = frame.f_code
        if _MACHINERY in code.co_filename:
            if not names:
                names.append(f"{code.co_qualname} (penstock)")
            break
        names.append(f"{code.co_qualname} ({os.path.basename(code.co_filename)}:{frame.f_lineno})")
        frame = frame.f_back
    return tuple(reversed(names))


sampler = StackSampler()
