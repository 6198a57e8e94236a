"""Which files were renamed into a directory: the kernel tells, so that many files cost no more than the new ones."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from pathlib import Path

_MOVED_HERE = 0x80
_NONBLOCK = os.O_NONBLOCK
_HEADER = struct.Struct("iIII")  # watch, what, cookie, length of the name
_BUFFER = 1 << 20


class Arrivals:
    """Names since the last look."""

    def __init__(self, directory: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(_NONBLOCK)
        if self._descriptor < 0 or libc.inotify_add_watch(self._descriptor, os.fsencode(directory), _MOVED_HERE) < 0:
            raise OSError(ctypes.get_errno(), f"the kernel does not watch {directory}")

    def look(self) -> list[str]:
        names: list[str] = []
        while True:
            try:
                events = os.read(self._descriptor, _BUFFER)
            except BlockingIOError:
                return names
            at = 0
            while at < len(events):
                *_, length = _HEADER.unpack_from(events, at)
                at += _HEADER.size + length
                names.append(os.fsdecode(events[at - length : at].rstrip(b"\0")))

    def wait(self, seconds: float) -> None:
        """Until there is one."""
        select.select([self._descriptor], [], [], seconds)
