"""Runs the calls of an asynchronous function on an event loop of their own, in a thread that lives across epochs."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.functions.async_io import AsyncFunction, AsyncRetryStrategy
from penstock.runtime.clock import Clock
from penstock.runtime.user_log import thread_speaks_for

_CLOSING_SECONDS = 5.0


class Call:
    """One record that is asked for, and what has become of it."""

    __slots__ = ("asked_at", "deadline", "done", "error", "finished_at", "results", "task", "timestamp", "value")

    def __init__(self, value: Any, timestamp: int) -> None:
        self.value = value
        self.timestamp = timestamp
        self.asked_at = 0
        self.deadline: int | None = None
        self.task: asyncio.Task[None] | None = None  # of the loop's thread alone
        self.finished_at = 0
        self.results: list[Any] = []
        self.error: BaseException | None = None
        self.done = False  # as the operator sees it, which a timeout may decide


class AsyncCalls:
    """Calls are started from the operator's thread and finish in the loop's; `finished` is where the two meet."""

    def __init__(
        self,
        function: AsyncFunction[Any, Any],
        strategy: AsyncRetryStrategy[Any],
        clock: Clock,
        wake: Callable[[], None],
    ) -> None:
        self._function = function
        self._strategy = strategy
        predicate = strategy.get_retry_predicate()
        self._retries_result = predicate.result_predicate() or _never
        self._retries_error = predicate.exception_predicate() or _never
        self._clock = clock
        self._wake = wake
        self.finished: deque[Call] = deque()
        self._news = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._run, args=(thread_speaks_for(),), name=f"{type(function).__name__} calls", daemon=True
        )
        self._thread.start()

    def _run(self, speak: Callable[[], None]) -> None:
        speak()
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    # -- the operator's thread ---------------------------------------------------------------------------------

    def start(self, calls: Iterable[Call]) -> None:
        self._loop.call_soon_threadsafe(self._start, list(calls))

    def drop(self, calls: Iterable[Call]) -> None:
        """Nobody waits for these any more."""
        self._loop.call_soon_threadsafe(self._cancel, list(calls))

    def wait(self, seconds: float | None) -> None:
        """Until a call has finished, or so long."""
        if not self.finished:
            self._news.wait(seconds)
        self._news.clear()

    def close(self) -> None:
        """A coroutine that does not let itself be cancelled is left behind with its daemon thread."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        self._thread.join(_CLOSING_SECONDS)

    # -- the loop's thread -------------------------------------------------------------------------------------

    def _start(self, calls: list[Call]) -> None:
        for call in calls:
            call.task = self._loop.create_task(self._answer(call))
            self._tasks.add(call.task)
            call.task.add_done_callback(self._tasks.discard)

    def _cancel(self, calls: list[Call]) -> None:
        for call in calls:
            if call.task is not None:
                call.task.cancel()

    async def _answer(self, call: Call) -> None:
        try:
            call.results = await self._attempts(call.value)
        except BaseException as error:  # whatever it is, the operator waits for the call, and raises it there
            call.error = error
        call.finished_at = self._clock()
        self.finished.append(call)
        self._news.set()
        self._wake()

    async def _attempts(self, value: Any) -> list[Any]:
        attempt = 1
        while True:
            failure: Exception | None = None
            results: list[Any] = []
            try:
                results = checked_results(await self._function.async_invoke(value), self._function)
            except Exception as error:
                failure = error
            again = self._retries_result(results) if failure is None else self._retries_error(failure)
            if not again or not self._strategy.can_retry(attempt):
                break
            await asyncio.sleep(self._strategy.get_backoff_time_millis(attempt) / 1000)
            attempt += 1
        if failure is not None:
            raise failure
        return results

    async def _end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)
        await self._loop.shutdown_asyncgens()
        self._loop.stop()


def checked_results(results: Any, function: AsyncFunction[Any, Any]) -> list[Any]:
    """Of async_invoke() or timeout()."""
    try:
        return list(results)
    except TypeError:
        name = type(function).__name__
        raise JobExecutionError(
            f"async_invoke() and timeout() of {name} must return a list of records, not {results!r};"
            " return [] for no result."
        ) from None


def _never(outcome: Any) -> bool:
    return False
