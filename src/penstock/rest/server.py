"""Serves the endpoints over HTTP on the loopback interface, to those who have the job's token.

The standard library's server does for a handful of requests, and costs a job no further imports when it starts.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import socket
import socketserver
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from penstock.control.job_control import JobControl
from penstock.control.job_home import JobHome
from penstock.rest.access import RestAccess, remove_access, write_access
from penstock.rest.endpoints import JobService, answer
from penstock.rest.exchange import Reply, RestError
from penstock.rest.triggers import Triggers

_LOOPBACK = "127.0.0.1"
_LARGEST_BODY = 1 << 20
_SILENT_CLIENT_SECONDS = 10
_GRACE_SECONDS = 3.0


def serve_job(control: JobControl, home: JobHome) -> Server:
    """Starts the job's REST interface and writes `rest.json` into the job's directory, which must exist."""
    return Server(control, home)


class Server:
    """Listens on a port of its own until it is closed."""

    def __init__(self, control: JobControl, home: JobHome) -> None:
        self._quiet = threading.Condition()
        self._requests_under_way = 0
        self._closing = False
        self._directory = home.path
        self._triggers = Triggers(self._tell_change)
        self._http = _HttpServer(self, JobService(home.job_id, control, self._triggers), secrets.token_urlsafe(32))
        self.access = RestAccess(f"http://{_LOOPBACK}:{self._http.server_address[1]}", self._http.token, os.getpid())
        self._thread = threading.Thread(target=self._accept, name=f"penstock-rest-{home.job_id[:6]}", daemon=True)
        self._thread.start()
        write_access(self._directory, self.access)

    def close(self, grace_seconds: float = _GRACE_SECONDS) -> None:
        """Lets clients hear the outcome of what they have triggered, for a while; then stops listening.

        Without the wait, whoever stops a job would never learn where its savepoint is.
        """
        with self._quiet:
            if self._closing:
                return
            self._quiet.wait_for(self._nobody_waits, grace_seconds)
            self._closing = True
        remove_access(self._directory, self.access)
        with contextlib.suppress(OSError):  # wakes the accepting thread
            socket.create_connection((_LOOPBACK, self._http.server_address[1]), timeout=1).close()
        self._thread.join()
        self._http.server_close()

    @contextlib.contextmanager
    def request_under_way(self) -> Iterator[None]:
        with self._quiet:
            self._requests_under_way += 1
        try:
            yield
        finally:
            with self._quiet:
                self._requests_under_way -= 1
                self._quiet.notify_all()

    def _nobody_waits(self) -> bool:
        return self._requests_under_way == 0 and self._triggers.all_heard()

    def _tell_change(self) -> None:
        with self._quiet:
            self._quiet.notify_all()

    def _accept(self) -> None:
        while not self._closing:
            self._http.handle_request()


class _HttpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, owner: Server, service: JobService, token: str) -> None:
        self.owner = owner
        self.service = service
        self.token = token
        super().__init__((_LOOPBACK, 0), _HttpRequest)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not the job's concern, and its terminal is not the place to say so."""


class _HttpRequest(BaseHTTPRequestHandler):
    server: _HttpServer
    timeout = _SILENT_CLIENT_SECONDS
    server_version = "penstock"

    def _serve(self) -> None:
        with self.server.owner.request_under_way():
            self._send(self._reply())

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def _reply(self) -> Reply:
        try:
            self._check_token()
            target = urlsplit(self.path)
            query = dict(parse_qsl(target.query, keep_blank_values=True))
            return answer(self.server.service, self.command, target.path, query, self._body())
        except RestError as error:
            return error.reply

    def _check_token(self) -> None:
        expected = f"Bearer {self.server.token}"
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), expected.encode()):
            raise RestError(
                HTTPStatus.UNAUTHORIZED, "send the token of the job's rest.json as `Authorization: Bearer <token>`"
            )

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            raise RestError(HTTPStatus.LENGTH_REQUIRED, "send the body with its Content-Length")
        if int(length) > _LARGEST_BODY:
            raise RestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {_LARGEST_BODY} bytes")
        content = self.rfile.read(int(length))
        try:
            body = json.loads(content) if content.strip() else {}
        except ValueError as error:
            raise RestError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise RestError(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
        return body

    def _send(self, reply: Reply) -> None:
        content = json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        if reply.status is HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """For what the base class itself refuses: JSON like every other answer."""
        status = HTTPStatus(code)
        self._send(RestError(status, message or status.phrase).reply)

    def log_message(self, format: str, *args: Any) -> None:
        """The job's terminal belongs to the program."""
