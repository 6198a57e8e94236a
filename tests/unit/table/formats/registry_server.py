"""A schema registry for tests: the two questions of Confluent's REST interface, over HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class RegistryServer:
    """Counts what it is asked; with `authorization` it refuses those who do not send it."""

    def __init__(self, authorization: str | None = None) -> None:
        self.schemas: dict[int, Any] = {}
        self.subjects: dict[str, int] = {}
        self.asked: list[str] = []
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                number = int(self.path.rpartition("/")[2])
                if number not in registry.schemas:
                    self._answer(404, {"error_code": 40403, "message": "Schema not found"})
                else:
                    self._answer(200, {"schema": json.dumps(registry.schemas[number])})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                subject = self.path.split("/")[2]
                self._answer(200, {"id": registry.register(subject, json.loads(body["schema"]))})

            def _answer(self, status: int, body: Any) -> None:
                registry.asked.append(f"{self.command} {self.path}")
                if authorization is not None and self.headers.get("Authorization") != authorization:
                    status, body = 401, {"message": "Unauthorized"}
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def register(self, subject: str, schema: Any) -> int:
        known = next((number for number, one in self.schemas.items() if one == schema), None)
        number = known or len(self.schemas) + 1
        self.schemas[number], self.subjects[subject] = schema, number
        return number

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
