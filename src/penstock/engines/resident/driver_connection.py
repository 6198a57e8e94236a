"""A task's own connection to its driver: one thread reads it, another one writes."""

from __future__ import annotations

import socket
import threading

from penstock.engines.resident.channels import Address, prepare
from penstock.engines.resident.frames import Frame, FrameReader, Greeting, Handshake
from penstock.engines.resident.run_keys import NotAuthenticatedError, RunKeys

_READ_BYTES = 1 << 20


class DriverConnection:
    def __init__(self, address: Address, keys: RunKeys, greeting: Greeting, timeout: float) -> None:
        """Both ends know each other when this returns."""
        self._socket = socket.create_connection(address, timeout)
        prepare(self._socket)
        self._line = keys.line(server=False)
        self._lock = threading.Lock()  # the line has one state for both directions
        self._reader = FrameReader()
        self._early = self._shake_hands(Handshake(keys.secret, greeting), address)
        self._socket.settimeout(None)

    def _shake_hands(self, handshake: Handshake, address: Address) -> list[Frame]:
        said, answer = self._line.opened(b"")
        while True:
            self._socket.sendall(answer)
            reply, rest = handshake.feed(said)
            self._socket.sendall(self._line.sealed(reply))
            if handshake.done:
                return self._reader.feed(rest)
            received = self._socket.recv(_READ_BYTES)
            if not received:
                raise NotAuthenticatedError(f"{address[0]}:{address[1]} has closed the connection during the handshake")
            said, answer = self._line.opened(received)

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def host(self) -> str:
        """The address of this end: others reach this process where the driver does."""
        return str(self._socket.getsockname()[0])

    def receive(self) -> list[Frame] | None:
        """What has arrived; None when the driver is gone."""
        frames, self._early = self._early, []
        try:
            received = self._socket.recv(_READ_BYTES, socket.MSG_DONTWAIT)
            if not received:
                return None
            with self._lock:
                said, answer = self._line.opened(received)
                self._socket.sendall(answer)
        except BlockingIOError:
            return frames
        except (OSError, NotAuthenticatedError):
            return None
        return frames + self._reader.feed(said)

    def send(self, frame: Frame) -> None:
        with self._lock:
            for part in frame.parts():
                self._socket.sendall(self._line.sealed(part))

    def close(self) -> None:
        self._socket.close()
