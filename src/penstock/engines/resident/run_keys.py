"""What the processes of a run know and nobody else: they prove with it who they are, and encrypt if they have to."""

from __future__ import annotations

import functools
import secrets
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from penstock.common.errors import ConfigurationError, PenstockError

_READ_BYTES = 1 << 20


class NotAuthenticatedError(PenstockError):
    """The other end does not know the secret of the run."""


class Line(Protocol):
    """Turns what is said on a connection into the bytes that travel, and back."""

    def sealed(self, data: bytes) -> bytes:
        """What travels now; the rest of it follows when both ends are ready."""

    def opened(self, received: bytes) -> tuple[bytes, bytes]:
        """What was said, and what has to travel in answer. Called with nothing to begin with."""


class PlainLine:
    def sealed(self, data: bytes) -> bytes:
        return data

    def opened(self, received: bytes) -> tuple[bytes, bytes]:
        return received, b""


class TlsLine:
    """TLS 1.3 in which both ends show the certificate of the run. It does not touch the socket, so nothing blocks."""

    def __init__(self, certificate: bytes, server: bool) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = _context(certificate, server)
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=server)
        self._ready = False
        self._unsealed: list[bytes] = []

    def sealed(self, data: bytes) -> bytes:
        if not self._ready:
            self._unsealed.append(data)
            return b""
        if data:
            self._tls.write(data)
        return self._outgoing.read()

    def opened(self, received: bytes) -> tuple[bytes, bytes]:
        self._incoming.write(received)
        try:
            if not self._ready:
                self._tls.do_handshake()
                self._ready = True
                for data in filter(None, self._unsealed):
                    self._tls.write(data)
                self._unsealed = []
            said = b"".join(self._pieces())
        except ssl.SSLWantReadError:
            said = b""
        except ssl.SSLError as error:
            raise NotAuthenticatedError(f"a connection was refused: {error}") from error
        return said, self._outgoing.read()

    def _pieces(self) -> Iterator[bytes]:
        try:
            while piece := self._tls.read(_READ_BYTES):
                yield piece
        except ssl.SSLWantReadError:
            return


@functools.lru_cache(8)
def _context(certificate: bytes, server: bool) -> ssl.SSLContext:
    """Trusts the certificate of the run and no other; names of machines mean nothing here."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    with tempfile.NamedTemporaryFile() as file:  # only its owner can read it; ssl takes keys from files alone
        file.write(certificate)
        file.flush()
        context.load_cert_chain(file.name)
        context.load_verify_locations(file.name)
    return context


@dataclass(frozen=True)
class RunKeys:
    secret: bytes = field(repr=False)
    certificate: bytes | None = field(default=None, repr=False)  # with its key, in PEM; None: nothing is encrypted

    @staticmethod
    def new(encrypted: bool = False) -> RunKeys:
        return RunKeys(secrets.token_bytes(32), _new_certificate() if encrypted else None)

    def line(self, server: bool) -> Line:
        return PlainLine() if self.certificate is None else TlsLine(self.certificate, server)


def _new_certificate() -> bytes:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise ConfigurationError(
            "Spark is asked to encrypt what travels, and resident tasks need the package cryptography for it: "
            "pip install 'penstock[tls]'"
        ) from error
    import datetime

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a run of penstock")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=3650))
        .sign(key, hashes.SHA256())
    )
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + certificate.public_bytes(serialization.Encoding.PEM)
