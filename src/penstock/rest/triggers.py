"""Operations that were asked for and take their time: each has an id under which its outcome can be fetched."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Triggers:
    """The savepoints and stops that were asked for, and who still has to hear of their end."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._futures: dict[str, Future[str]] = {}
        self._unheard: set[str] = set()

    def start(self, operation: Callable[[], Future[str]], trigger_id: str | None = None) -> str:
        """Starts the operation, once for each id: a client that repeats its request does not get two savepoints."""
        with self._lock:
            trigger_id = trigger_id or secrets.token_hex(16)
            if trigger_id not in self._futures:
                self._futures[trigger_id] = operation()
                self._unheard.add(trigger_id)
        return trigger_id

    def outcome(self, trigger_id: str) -> dict[str, Any] | None:
        """In Flink's form; None for an id that is not known."""
        with self._lock:
            future = self._futures.get(trigger_id)
        if future is None:
            return None
        if not future.done():
            return {"status": {"id": "IN_PROGRESS"}}
        reply = {"status": {"id": "COMPLETED"}, "operation": _result(future)}
        with self._lock:
            self._unheard.discard(trigger_id)
        self._changed()
        return reply

    def all_heard(self) -> bool:
        """Whether every outcome there is has been fetched; operations that are not done do not count."""
        with self._lock:
            return not any(self._futures[trigger_id].done() for trigger_id in self._unheard)


def _result(future: Future[str]) -> dict[str, Any]:
    if future.cancelled():
        return {"failure-cause": {"class": "Cancelled", "stack-trace": "the job ended before this was done"}}
    error = future.exception()
    if error is not None:
        return {"failure-cause": {"class": type(error).__name__, "stack-trace": str(error)}}
    return {"location": future.result()}
