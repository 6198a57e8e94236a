"""JSON over HTTP to one address. Not urllib.request: it would send the token to a proxy of the environment."""

from __future__ import annotations

import http.client
import json
import ssl
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from penstock.client.access import RestAccess
from penstock.common.errors import JobExecutionError

_ANSWER_SECONDS = 30.0
_GONE = (ConnectionError, http.client.RemoteDisconnected, http.client.IncompleteRead)


class GoneError(JobExecutionError):
    """Nobody listens there (any more)."""


class RefusedError(JobExecutionError):
    """The answer was an error; the text is that of the server."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Connection:
    """One request at a time, each on a connection of its own; may be used from several threads."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        certificate: str | None = None,  # whom to trust, when the server has made its certificate itself
        timeout: float = _ANSWER_SECONDS,
        check_host: bool = True,
    ) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._certificate = certificate
        self._check_host = check_host

    @staticmethod
    def of(access: RestAccess, timeout: float = _ANSWER_SECONDS) -> Connection:
        """To a server of this machine. Its file names the very certificate, which may be made for another name."""
        return Connection(access.url, access.token, access.certificate, timeout, check_host=access.certificate is None)

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{path}?{urlencode(given)}" if given else path
        content = None if body is None else json.dumps(body).encode()
        return self._send(method, target, content, "application/json")

    def upload(self, path: str, file: Path | None, fields: Mapping[str, str]) -> Any:
        """A form, with one file."""
        boundary = uuid.uuid4().hex
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        if file is not None:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quote(file.name)}"\r\n\r\n'
            parts += [head.encode(), file.read_bytes(), b"\r\n"]
        content = b"".join([*parts, f"--{boundary}--\r\n".encode()])
        return self._send("POST", path, content, f"multipart/form-data; boundary={boundary}")

    def _send(self, method: str, target: str, content: bytes | None, media: str) -> Any:
        headers = {"Content-Type": media}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        connection = self._open()
        try:
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            payload = response.read()
            answer = json.loads(payload) if response.headers.get_content_type() == "application/json" else payload
        except _GONE:
            raise GoneError(f"nobody listens at {self.url}") from None
        except ssl.SSLCertVerificationError as error:
            raise JobExecutionError(
                f"{self.url} has a certificate that is not trusted here ({error.verify_message}); if it is the "
                'server\'s own, name its file: certificate="certificate.pem"'
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise JobExecutionError(f"{self.url} gave no usable answer ({error})") from error
        finally:
            connection.close()
        if response.status >= 400:
            errors = answer.get("errors") if isinstance(answer, dict) else None
            raise RefusedError(response.status, "; ".join(errors or [f"HTTP status {response.status}"]))
        return answer

    def _open(self) -> http.client.HTTPConnection:
        address = urlsplit(self.url)
        host = address.hostname or ""
        if address.scheme == "https":
            context = ssl.create_default_context(cafile=self._certificate)
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # trust in a certificate needs none in its maker
            context.check_hostname = self._check_host
            return http.client.HTTPSConnection(host, address.port, timeout=self._timeout, context=context)
        return http.client.HTTPConnection(host, address.port, timeout=self._timeout)
