"""A manager that says what a test wants it to say: for looks that real jobs do not show at once.

What it answers has the shapes of docs/rest.md; that the real manager gives the same is tested with the real one.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PAGE = Path(__file__).resolve().parents[3] / "src" / "penstock" / "rest" / "page"
TOKEN = "a-token"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Answers = Mapping[str, Any]


class FakeManager:
    """Can go away and come back at the same address."""

    def __init__(self, answers: Callable[[], Answers]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str, bytes]] = []
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        path = urlsplit(target).path
        if method != "GET":
            self.asked.append((method, target, body))
        answers = self.answers()
        for name in (f"{method} {path}", target, path):
            if name in answers:
                found = answers[name]
                return 200, found() if callable(found) else found
        return 404, {"errors": [f"Not found: {path}"]}


@contextlib.contextmanager
def fake_manager(answers: Callable[[], Answers]) -> Iterator[FakeManager]:
    manager = FakeManager(answers)
    try:
        yield manager
    finally:
        manager.stop()


def _handler(manager: FakeManager) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = urlsplit(self.path).path
            file = PAGE / ("index.html" if path == "/" else path.lstrip("/"))
            if self.command == "GET" and file.is_file():
                self._send(200, file.read_bytes(), _TYPES.get(file.suffix, "application/octet-stream"))
            elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._send(401, b'{"errors": ["send the token"]}', "application/json")
            else:
                status, answer = manager.answer(self.command, self.path, body)
                self._send(status, json.dumps(answer).encode(), "application/json")

        do_GET = do_POST = do_PATCH = do_DELETE = _serve

        def _send(self, status: int, content: bytes, type_: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", type_)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
