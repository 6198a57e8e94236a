"""Connects Spark's source process with the coordinator in the driver.

Spark asks a Python data source for offsets in a process of its own; everything that knows the answers lives in the
driver. So the source process asks the driver, over a socket of this machine with a secret key.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Protocol


class Planner(Protocol):
    """What the driver answers."""

    def initial_offset(self) -> dict[str, Any]: ...

    def latest_offset(self, start: dict[str, Any]) -> dict[str, Any]: ...

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Any]: ...

    def planning_failed(self, error: Exception) -> None:
        """The call before raised this; Spark will only say that its source failed."""


class PlannerServer:
    """Answers the calls of one job's source process until it is closed."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.key = secrets.token_bytes(32)
        # Not TCP: a message of two writes would wait for the acknowledgement of the first.
        self._listener = Listener(family="AF_UNIX", authkey=self.key)
        self._closed = False
        threading.Thread(target=self._accept, name="penstock-planner", daemon=True).start()

    @property
    def address(self) -> str:
        return str(self._listener.address)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except Exception:  # closed, or a caller without the key: neither may end the thread while open
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            while True:
                try:
                    method, arguments = connection.recv()
                except (EOFError, OSError):
                    return
                connection.send(self._answer(method, arguments))

    def _answer(self, method: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        try:
            return True, getattr(self._planner, method)(*arguments)
        except Exception as error:
            self._planner.planning_failed(error)
            return False, f"{type(error).__name__}: {error}"

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        # Ends accept(), which a closed listener does not. Callers that stand in the way need not be waited for.
        with socket.socket(socket.AF_UNIX) as caller, contextlib.suppress(OSError):
            caller.setblocking(False)
            caller.connect(self.address)
        self._listener.close()


class PlannerClient:
    """The source process's side; picklable, connects when first used."""

    def __init__(self, address: str, key: bytes) -> None:
        self._address = address
        self._key = key
        self._connection: Connection | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None}

    def call(self, method: str, *arguments: Any) -> Any:
        if self._connection is None:
            self._connection = Client(self._address, authkey=self._key)
        self._connection.send((method, arguments))
        right, answer = self._connection.recv()
        if not right:
            raise RuntimeError(answer)
        return answer
