"""Where tasks of a local Spark wait between two jobs of one process: to start one costs Spark a tenth of a second.

A socket of this machine that only this user may open. Whoever waits has connected; nobody answers before there is work.
"""

from __future__ import annotations

import contextlib
import pickle
import shutil
import socket
import struct
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

from penstock.engines.resident.messages import TaskSettings

_WAIT_SECONDS = 20.0  # Spark itself keeps a worker that nobody needs for a minute
_ANSWER_SECONDS = 1.0  # of the other end, which has written before it was asked
_NUMBER = struct.Struct("<q")


class WaitingRoom:
    """The driver's end. Guests have numbers; who finds no seat free goes home."""

    def __init__(self, seats: int) -> None:
        directory = tempfile.mkdtemp(prefix="penstock-")
        self.address = str(Path(directory) / "room")
        self._guests: dict[int, socket.socket] = {}
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        weakref.finalize(self, _close, self._socket, directory)
        self._socket.bind(self.address)
        self._socket.listen(seats)

    def waiting(self) -> list[int]:
        """Who has come, or has been here a moment ago."""
        with self._lock:
            for guest in self._arrived():
                with guest, contextlib.suppress(OSError, struct.error):
                    guest.settimeout(_ANSWER_SECONDS)
                    (number,) = _NUMBER.unpack(guest.recv(_NUMBER.size))
                    self._guests[number] = guest.dup()
            return list(self._guests)

    def _arrived(self) -> Iterator[socket.socket]:
        with contextlib.suppress(BlockingIOError):
            while True:
                yield self._socket.accept()[0]

    def send_off(self, number: int, work: tuple[int, TaskSettings]) -> bool:
        """False if the guest has gone by itself."""
        with self._lock:
            guest = self._guests.pop(number, None)
        if guest is None:
            return False
        with guest, contextlib.suppress(OSError):
            guest.sendall(pickle.dumps(work))
            return True
        return False


def wait_in(room: str, number: int) -> tuple[int, TaskSettings] | None:
    """A task's end: the slot and the settings of another job; None if there is none before long, or no room."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door, contextlib.suppress(OSError, EOFError):
        door.setblocking(False)  # all seats may be taken
        door.connect(room)
        door.settimeout(_WAIT_SECONDS)
        door.sendall(_NUMBER.pack(number))
        with door.makefile("rb") as said:
            work: tuple[int, TaskSettings] | None = pickle.load(said)
            return work
    return None


def _close(listening: socket.socket, directory: str) -> None:
    listening.close()
    shutil.rmtree(directory, ignore_errors=True)
