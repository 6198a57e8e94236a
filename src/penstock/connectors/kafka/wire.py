"""Kafka's protocol for the few questions that librdkafka has no call for: bytes of a request, and of its answer.

Only logins that need no further library: none, TLS, a password (PLAIN and SCRAM), a token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.connectors.kafka.tokens import NoToken, token_of

_CLIENT = "penstock"
_LARGEST_ANSWER = 64 << 20
_SCRAM = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class Question(NamedTuple):
    """A kind of request, and the version of it that is spoken here."""

    key: int
    version: int


_SASL_HANDSHAKE, _SASL_AUTHENTICATE = Question(17, 1), Question(36, 0)


class CannotAsk(Exception):
    """This client has not that login, or the brokers do not know the question."""


class LoginRefused(ConnectionError):
    """A broker is there, and does not let this client in."""


class Answer:
    """Read from its beginning; `compact` methods are those of newer versions."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _number(self, form: str) -> int:
        (found,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return int(found)

    def int8(self) -> int:
        return self._number(">b")

    def int16(self) -> int:
        return self._number(">h")

    def int32(self) -> int:
        return self._number(">i")

    def int64(self) -> int:
        return self._number(">q")

    def varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7

    def bytes_(self, length: int) -> bytes:
        self._at += max(0, length)
        return self._data[self._at - max(0, length) : self._at]

    def string(self) -> str:
        return self.bytes_(self.int16()).decode()

    def compact_string(self) -> str:
        return self.bytes_(self.varint() - 1).decode()

    def skip_tags(self) -> None:
        for _ in range(self.varint()):
            self.varint()
            self.bytes_(self.varint())


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def array(items: Sequence[bytes]) -> bytes:
    return struct.pack(">i", len(items)) + b"".join(items)


def varint(number: int) -> bytes:
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def compact_string(text: str) -> bytes:
    data = text.encode()
    return varint(len(data) + 1) + data


def compact_array(items: Sequence[bytes]) -> bytes:
    return varint(len(items) + 1) + b"".join(items)


class Connection:
    """To one broker. `settings` are in librdkafka's words."""

    def __init__(self, host: str, port: int, settings: Mapping[str, Any], seconds: float) -> None:
        protocol = str(settings.get("security.protocol", "plaintext")).lower()
        self._asked = 0
        self._seconds = seconds
        self._socket = socket.create_connection((host, port), seconds)
        try:
            if protocol.endswith("ssl"):
                self._socket = _with_tls(self._socket, host, settings)
            if protocol.startswith("sasl"):
                self._log_in(settings)
        except BaseException:
            self.close()
            raise

    def ask(self, question: Question, body: bytes, compact: bool = False) -> Answer:
        self.send(question, body, compact)
        return self.answer(compact)

    def send(self, question: Question, body: bytes, compact: bool = False) -> None:
        """Who asks several brokers sends to all of them first."""
        self._asked += 1
        head = struct.pack(">hhi", *question, self._asked) + string(_CLIENT) + (b"\0" if compact else b"")
        self._socket.sendall(struct.pack(">i", len(head) + len(body)) + head + body)

    def answer(self, compact: bool = False) -> Answer:
        (length,) = struct.unpack(">i", self._received(4))
        if not 4 <= length <= _LARGEST_ANSWER:
            raise ConnectionError(f"an answer of {length} bytes is none of Kafka's")
        answer = Answer(self._received(length))
        if answer.int32() != self._asked:
            raise ConnectionError("the answer is not that of the request")
        if compact:
            answer.skip_tags()
        return answer

    def _received(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            piece = self._socket.recv(length - len(data))
            if not piece:
                raise ConnectionError("the broker has closed the connection")
            data += piece
        return bytes(data)

    def _log_in(self, settings: Mapping[str, Any]) -> None:
        mechanism = str(settings.get("sasl.mechanisms", "GSSAPI"))
        user, password = str(settings.get("sasl.username", "")), str(settings.get("sasl.password", ""))
        if mechanism not in ("PLAIN", "OAUTHBEARER", *_SCRAM):
            raise CannotAsk(f"a login by {mechanism} is left to librdkafka")
        if self.ask(_SASL_HANDSHAKE, string(mechanism)).int16() != 0:
            raise ConnectionError(f"the broker offers no login by {mechanism}")
        if mechanism == "PLAIN":
            self._prove(f"\0{user}\0{password}".encode())
        elif mechanism == "OAUTHBEARER":
            refusal = self._prove(_first_of_token(settings, self._seconds))
            if refusal:
                self._prove(b"\x01")  # which the broker awaits before it refuses
        else:
            scram = Scram(_SCRAM[mechanism], user, password, secrets.token_hex(16))
            scram.check(self._prove(scram.proof(self._prove(scram.first))))

    def _prove(self, said: bytes) -> bytes:
        answer = self.ask(_SASL_AUTHENTICATE, struct.pack(">i", len(said)) + said)
        code, _ = answer.int16(), answer.string()
        if code != 0:
            raise LoginRefused(f"the login was refused (error {code})")
        return answer.bytes_(answer.int32())

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _first_of_token(settings: Mapping[str, Any], seconds: float) -> bytes:
    try:
        return token_of(settings, seconds).first_message()
    except NoToken as reason:
        raise CannotAsk(str(reason)) from None


class Scram:
    """RFC 5802, without channel binding."""

    def __init__(self, hash_: str, user: str, password: str, nonce: str) -> None:
        self._hash = hash_
        self._password = password.encode()
        self._bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
        self._nonce = nonce
        self._signature = b""

    @property
    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def proof(self, server_first: bytes) -> bytes:
        said = dict(part.split("=", 1) for part in server_first.decode().split(","))
        if not said["r"].startswith(self._nonce):
            raise LoginRefused("the login was refused (another nonce)")
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, base64.b64decode(said["s"]), int(said["i"]))
        client = self._mac(salted, b"Client Key")
        without_proof = f"c=biws,r={said['r']}"
        message = ",".join((self._bare, server_first.decode(), without_proof)).encode()
        signed = self._mac(hashlib.new(self._hash, client).digest(), message)
        proof = bytes(a ^ b for a, b in zip(client, signed, strict=True))
        self._signature = self._mac(self._mac(salted, b"Server Key"), message)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def check(self, server_last: bytes) -> None:
        if server_last.decode() != f"v={base64.b64encode(self._signature).decode()}":
            raise ConnectionError("who answers does not know the password")

    def _mac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._hash).digest()


def _with_tls(plain: socket.socket, host: str, settings: Mapping[str, Any]) -> socket.socket:
    context = ssl.create_default_context(cafile=settings.get("ssl.ca.location"), cadata=settings.get("ssl.ca.pem"))
    certificate = settings.get("ssl.certificate.location")
    if certificate is not None:
        context.load_cert_chain(certificate, settings.get("ssl.key.location"), settings.get("ssl.key.password"))
    elif any(key in settings for key in ("ssl.certificate.pem", "ssl.keystore.location")):
        raise CannotAsk("certificates of a client are read from PEM files only")
    if str(settings.get("ssl.endpoint.identification.algorithm", "https")).lower() == "none":
        context.check_hostname = False
    if str(settings.get("enable.ssl.certificate.verification", "true")).lower() == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        return context.wrap_socket(plain, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise CannotAsk(f"librdkafka may trust this broker, Python does not: {error}") from None
