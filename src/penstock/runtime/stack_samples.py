"""Where the Python code of operators spends its time: a thread of the worker looks at the stacks of the others.

Frames below the operator's own are left out: operators of one task call each other, and each has a graph of its own.
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
_DOOR = os.path.join(os.path.dirname(__file__), "station.py")  # every operator's code is called from there
_OWN_CODE = os.path.dirname(os.path.dirname(__file__)) + os.sep


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
    """Functions from the operator's own on, the outermost first, and at last the line of the user's code."""
    names: list[str] = []
    while frame is not None and len(names) < _DEEPEST:
        code = frame.f_code
        if code.co_filename == _DOOR:
            break
        file = os.path.basename(code.co_filename)
        if code.co_filename.startswith(_OWN_CODE):
            names.append(f"{code.co_qualname} (penstock)")
        else:
            if not names:
                names.append(f"{file}:{frame.f_lineno}")
            names.append(f"{code.co_qualname} ({file}:{code.co_firstlineno})")
        frame = frame.f_back
    return tuple(reversed(names)) or ("between operators (penstock)",)


sampler = StackSampler()
