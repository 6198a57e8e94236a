"""Connections that never block: TCP, with or without TLS, served by the one thread that also runs the operators.

There is one connection for each level, sending and receiving task: chunks for a level that has no room must not stand
in the way of those for a later one. Nothing is sent again: a broken connection is the failure of a generation.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections import deque

from penstock.common.errors import ConfigurationError, PenstockError
from penstock.engines.resident.frames import Frame, FrameReader, Greeting, Handshake
from penstock.engines.resident.run_keys import Line, RunKeys

OUTBOX_BYTES = 4 << 20  # more than this waits in the operators, which then do not run
_READ_BYTES = 1 << 20
_SILENCE = {"TCP_KEEPIDLE": 4, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3}  # seconds, seconds, and how often

Address = tuple[str, int]


class BrokenConnectionError(PenstockError):
    """The other end is gone, or cannot be reached."""


def prepare(sock: socket.socket) -> None:
    """Small frames leave at once, and an end that nothing reaches any more notices it although nobody closed anything.

    Only the receiving end can tell a lost path from a receiver without room: it has nothing under way itself, so that
    its kernel asks when it hears nothing, and a process that works or is stopped still has a kernel that answers.
    """
    with contextlib.suppress(OSError):  # only TCP has these
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _SILENCE.items():
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Connection:
    """One TCP connection with its place in a selector; what cannot be sent at once waits here."""

    def __init__(self, sock: socket.socket, selector: selectors.BaseSelector, handshake: Handshake, line: Line) -> None:
        sock.setblocking(False)
        prepare(sock)
        self._socket = sock
        self._selector = selector
        self._handshake = handshake
        self._line = line
        self._reader = FrameReader()
        self._outbox: deque[memoryview] = deque()
        self._waiting = deque[Frame]()  # until the handshake is done
        self._events = 0
        self._paused = False
        self.waiting_bytes = 0
        self.closed = False
        self._post(line.opened(b"")[1])
        self._put(handshake.opening())
        self._watch()

    @property
    def greeting(self) -> Greeting | None:
        """Known, at the server's end, when the handshake is done."""
        return self._handshake.greeting if self._handshake.done else None

    @property
    def incoming(self) -> bool:
        return not self._handshake.client

    @property
    def has_room(self) -> bool:
        return self.waiting_bytes < OUTBOX_BYTES

    def send(self, frame: Frame) -> None:
        if not self._handshake.done:
            self._waiting.append(frame)
            self.waiting_bytes += len(frame.payload)
            return
        for part in frame.parts():
            self._put(part)
        if not self._events & selectors.EVENT_WRITE:
            self._send_waiting()

    def pause(self, paused: bool) -> None:
        """While the receiver has no room nothing is read, and TCP makes the sender wait."""
        if paused != self._paused:
            self._paused = paused
            self._watch()

    def serve(self, events: int) -> list[Frame]:
        """After the selector has named it: sends and receives."""
        if events & selectors.EVENT_WRITE:
            self._send_waiting()
        return self._received() if events & selectors.EVENT_READ else []

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._watch()
            self._socket.close()

    # -- bytes -------------------------------------------------------------------------------------------------

    def _put(self, part: bytes) -> None:
        self._post(self._line.sealed(part))

    def _post(self, part: bytes) -> None:
        if part:
            self._outbox.append(memoryview(part))
            self.waiting_bytes += len(part)

    def _received(self) -> list[Frame]:
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            raise BrokenConnectionError(str(error)) from error
        if not data:
            raise BrokenConnectionError("the other end has closed it")
        data, answer = self._line.opened(data)
        self._post(answer)
        if self._handshake.done:
            if answer:
                self._send_waiting()
            return self._reader.feed(data)
        answer, rest = self._handshake.feed(data)
        self._put(answer)
        if self._handshake.done:
            self._release()
        self._send_waiting()
        return self._reader.feed(rest)

    def _release(self) -> None:
        for frame in self._waiting:
            self.waiting_bytes -= len(frame.payload)
            for part in frame.parts():
                self._put(part)
        self._waiting.clear()

    def _send_waiting(self) -> None:
        try:
            while self._outbox:
                part = self._outbox[0]
                sent = self._socket.send(part)
                self.waiting_bytes -= sent
                if sent == len(part):
                    self._outbox.popleft()
                else:
                    self._outbox[0] = part[sent:]
        except BlockingIOError:
            pass
        except OSError as error:
            raise BrokenConnectionError(str(error)) from error
        self._watch()

    def _watch(self) -> None:
        events = 0 if self._paused and self._handshake.done else selectors.EVENT_READ
        events |= selectors.EVENT_WRITE if self._outbox else 0
        events = 0 if self.closed else events
        if events == self._events:
            return
        if not self._events:
            self._selector.register(self._socket, events, self)
        elif not events:
            self._selector.unregister(self._socket)
        else:
            self._selector.modify(self._socket, events, self)
        self._events = events


class Listener:
    """Accepts connections on one port of a range; 0 stands for any free one."""

    def __init__(self, host: str, ports: range, selector: selectors.BaseSelector, keys: RunKeys) -> None:
        self._selector = selector
        self._keys = keys
        self._socket = _bound(host, ports)
        self._socket.setblocking(False)
        selector.register(self._socket, selectors.EVENT_READ, self)

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    def accept(self) -> Connection | None:
        try:
            sock, _ = self._socket.accept()
        except OSError:  # whoever knocked has gone again
            return None
        return Connection(sock, self._selector, Handshake(self._keys.secret), self._keys.line(server=True))

    def close(self) -> None:
        self._selector.unregister(self._socket)
        self._socket.close()


def connect(address: Address, selector: selectors.BaseSelector, keys: RunKeys, greeting: Greeting) -> Connection:
    """Returns at once; frames wait until the other end has answered."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        sock.connect(address)
    return Connection(sock, selector, Handshake(keys.secret, greeting), keys.line(server=False))


def _bound(host: str, ports: range) -> socket.socket:
    for port in ports:
        with contextlib.suppress(OSError):
            return socket.create_server((host, port), reuse_port=False)
    raise ConfigurationError(
        f"none of the ports {ports.start} to {ports.stop - 1} is free on {host}; give penstock.resident.ports more"
    )
