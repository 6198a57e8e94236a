"""What travels over a connection: frames, after both ends have proved that they know the secret of the run.

Payloads are pickles, and whoever can send a pickle can run code: nothing is unpickled before the proof.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from typing import NamedTuple

from penstock.engines.resident.run_keys import NotAuthenticatedError

CHUNK, BARRIER, MESSAGE = 1, 2, 3
_HEADER = struct.Struct("<QBiqq")  # length of the payload, kind, subtask, channel, epoch
_GREETING = struct.Struct("<qii")
_NONCE_BYTES = 32
_PROOF_BYTES = hashlib.sha256().digest_size
_JOINED_BYTES = 65536  # smaller payloads are copied to go out with their header


class Frame(NamedTuple):
    kind: int
    payload: bytes = b""
    subtask: int = 0  # that receives it
    channel: int = 0
    epoch: int = 0

    def parts(self) -> list[bytes]:
        header = _HEADER.pack(len(self.payload), self.kind, self.subtask, self.channel, self.epoch)
        return [header + self.payload] if len(self.payload) < _JOINED_BYTES else [header, self.payload]


class FrameReader:
    """Puts frames together from whatever pieces the network delivers."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        buffer, frames, start = self._buffer, [], 0
        buffer += data
        while len(buffer) - start >= _HEADER.size:
            size, kind, subtask, channel, epoch = _HEADER.unpack_from(buffer, start)
            end = start + _HEADER.size + size
            if len(buffer) < end:
                break
            payload = bytes(memoryview(buffer)[start + _HEADER.size : end])
            frames.append(Frame(kind, payload, subtask, channel, epoch))
            start = end
        del buffer[:start]
        return frames


class Greeting(NamedTuple):
    """Who connects, and for what: the chunks for a level (of a generation), or with level -1 control messages."""

    generation: int
    level: int
    slot: int


class Handshake:
    """Either end of the challenge; bytes in, bytes out.

    The server sends a nonce, the client a nonce, its greeting and the proof over both, the server its own proof.
    """

    def __init__(self, secret: bytes, greeting: Greeting | None = None) -> None:
        self._secret = secret
        self.client = greeting is not None
        self.greeting = greeting  # of the client, which the server learns
        self._own = secrets.token_bytes(_NONCE_BYTES)
        self._received = bytearray()
        self._challenged = False
        self.done = False

    def opening(self) -> bytes:
        return b"" if self.client else self._own

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """What to answer, and what has arrived after the handshake."""
        self._received += data
        answer = b""
        if self.client and not self._challenged and len(self._received) >= _NONCE_BYTES:
            answer = self._answer(self._take(_NONCE_BYTES))
        if self.client and self._challenged and len(self._received) >= _PROOF_BYTES:
            self._check(self._take(_PROOF_BYTES), b"server", self._own)
        elif not self.client and len(self._received) >= _NONCE_BYTES + _GREETING.size + _PROOF_BYTES:
            answer = self._verified()
        rest = self._take(len(self._received)) if self.done else b""
        return answer, rest

    def _answer(self, challenge: bytes) -> bytes:
        assert self.greeting is not None
        self._challenged = True
        greeting = _GREETING.pack(*self.greeting)
        return self._own + greeting + self._proof(b"client", challenge + self._own + greeting)

    def _verified(self) -> bytes:
        nonce, greeting = self._take(_NONCE_BYTES), self._take(_GREETING.size)
        self._check(self._take(_PROOF_BYTES), b"client", self._own + nonce + greeting)
        self.greeting = Greeting(*_GREETING.unpack(greeting))
        return self._proof(b"server", nonce)

    def _check(self, proof: bytes, role: bytes, content: bytes) -> None:
        if not hmac.compare_digest(proof, self._proof(role, content)):
            raise NotAuthenticatedError("a connection was refused: the other end does not know the secret of the run")
        self.done = True

    def _proof(self, role: bytes, content: bytes) -> bytes:
        return hmac.digest(self._secret, role + content, "sha256")

    def _take(self, count: int) -> bytes:
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken
