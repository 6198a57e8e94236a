"""The result of something that goes on while the program does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

__all__ = ["CompletableFuture"]


class CompletableFuture:
    """A value that will be there later; ``result()`` waits for it.

    ``convert`` turns what the work delivers into what ``result()`` returns.
    """

    def __init__(self, future: Future[Any], convert: Callable[[Any], Any] | None = None) -> None:
        if not isinstance(future, Future):
            raise TypeError(f"A CompletableFuture stands on a concurrent.futures.Future, not on {future!r}.")
        self._future = future
        self._convert = convert

    @staticmethod
    def completed(value: Any) -> CompletableFuture:
        """A future whose value is already there."""
        future: Future[Any] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Tries to cancel the work; False when it has begun or is over."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        return self._future.cancelled()

    def done(self) -> bool:
        """True when it has a value, has failed or was cancelled."""
        return self._future.done()

    def result(self) -> Any:
        """Waits and returns the value, or raises the error that the work ended with."""
        value = self._future.result()
        return value if self._convert is None else self._convert(value)

    def exception(self) -> BaseException | None:
        """Waits and returns the error that the work ended with, None when it went well."""
        try:
            return self._future.exception()
        except CancelledError as cancelled:
            return cancelled

    def __repr__(self) -> str:
        return f"CompletableFuture({self._future!r})"
