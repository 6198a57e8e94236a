"""A schema registry over HTTP, with the documented paths of Confluent's that readers and writers of messages need.

It keeps its schemas in memory, and is as strict as the real one about numbers, subjects, errors and logins.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_TYPE = "application/vnd.schemaregistry.v1+json"


class SchemaRegistryServer:
    def __init__(self, login: str | None = None) -> None:
        self.schemas: list[str] = []  # number 1 is the first
        self.subjects: dict[str, list[int]] = {}
        self.requests: list[str] = []
        self.broken = 0  # so many answers from now on are errors of the server
        self.login = login
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        login = "" if self.login is None else f"{self.login}@"
        return f"http://{login}127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: Any, authorization: str | None) -> tuple[int, Any]:
        with self._lock:
            self.requests.append(f"{method} {path}")
            if self.broken:
                self.broken -= 1
                return 500, {"error_code": 50001, "message": "Error in the backend data store"}
            if self.login is not None and authorization != f"Basic {base64.b64encode(self.login.encode()).decode()}":
                return 401, {"error_code": 401, "message": "Unauthorized"}
            if method == "GET" and (found := re.fullmatch(r"/schemas/ids/(\d+)", path)):
                return self._schema(int(found[1]))
            if method == "POST" and (found := re.fullmatch(r"/subjects/([^/]+)/versions", path)):
                return self._register(urllib.parse.unquote(found[1]), body)
            return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def _schema(self, number: int) -> tuple[int, Any]:
        if not 1 <= number <= len(self.schemas):
            return 404, {"error_code": 40403, "message": f"Schema {number} not found"}
        return 200, {"schema": self.schemas[number - 1]}

    def _register(self, subject: str, body: Any) -> tuple[int, Any]:
        """The same schema has the same number, whatever its subject and its white space."""
        try:
            schema = json.dumps(json.loads(body["schema"]), separators=(",", ":"))
        except (ValueError, KeyError, TypeError):
            return 422, {"error_code": 42201, "message": "Invalid schema"}
        if schema not in self.schemas:
            self.schemas.append(schema)
        number = self.schemas.index(schema) + 1
        if number not in self.subjects.setdefault(subject, []):
            self.subjects[subject].append(number)
        return 200, {"id": number}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply(None)

            def do_POST(self) -> None:
                self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _reply(self, body: Any) -> None:
                code, answer = registry.answer(self.command, self.path, body, self.headers.get("Authorization"))
                content = json.dumps(answer).encode()
                self.send_response(code)
                self.send_header("Content-Type", _TYPE)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        return Handler


@contextlib.contextmanager
def schema_registry(login: str | None = None) -> Iterator[SchemaRegistryServer]:
    server = SchemaRegistryServer(login)
    server.start()
    try:
        yield server
    finally:
        server.stop()
