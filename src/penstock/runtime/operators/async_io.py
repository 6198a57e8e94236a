"""Asynchronous I/O: many calls to the outside at a time, whose results take the places of the records.

Calls go on between epochs, and an epoch does not wait for them: the records that they are for are part of its snapshot,
and whoever goes on from it asks again. An epoch ends when every record was asked for, so at most `capacity` are in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from penstock.common.errors import JobExecutionError
from penstock.functions.async_io import AsyncFunction, AsyncFunctionDescriptor
from penstock.runtime.async_calls import AsyncCalls, Call, checked_results
from penstock.runtime.async_queue import AsyncQueue, batch_of
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Idleness, Watermark
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator

_LONG_AGO: Final = 1  # as a moment of processing time: the results are there
_SHORTEST_LOOK_MS = 5


class AsyncOperator(Operator):
    """Drives an AsyncFunction. Everything but its calls happens in the thread of the operators."""

    asynchronous = True

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        how: AsyncFunctionDescriptor = blueprint.function
        self._function: AsyncFunction[Any, Any] = how.async_function
        self._strategy = how.async_retry_strategy
        self._timeout: int = how.timeout.to_milliseconds()
        self._capacity = how.capacity
        self._ordered = how.output_mode is AsyncFunctionDescriptor.OutputMode.ORDERED
        self._calls: AsyncCalls | None = None
        self._forget()

    def _forget(self) -> None:
        self._queue = AsyncQueue(self._ordered)
        self._unasked: deque[Call] = deque()
        self._asked: deque[Call] = deque()  # in the order of their deadlines; also some that are done

    def open(self) -> None:
        self._function.open(self.context.runtime_context)
        self._calls = AsyncCalls(self._function, self._strategy, self.context.clock, self.context.wake)

    def close(self) -> None:
        if self._calls is not None:
            self._calls.close()
            self._calls = None
        self._function.close()

    # -- elements ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        timestamps = batch.timestamps or [MIN_TIMESTAMP] * len(batch)
        for value, timestamp in zip(batch.values, timestamps, strict=True):
            self._take(value, timestamp)
        self._go_on()

    def _take(self, value: Any, timestamp: int) -> None:
        call = Call(value, timestamp)
        self._queue.append(call)
        self._unasked.append(call)

    def process_watermark(self, timestamp: int) -> None:
        self._queue.append_control(Watermark(timestamp))
        self._go_on()

    def process_idleness(self, idle: bool) -> None:
        self._queue.append_control(Idleness(idle))
        self._go_on()

    def finish(self) -> None:
        self._wait_while(lambda: bool(self._queue))
        super().finish()

    def end_epoch(self) -> None:
        self._wait_while(lambda: self.congested)

    # -- time --------------------------------------------------------------------------------------------------

    @property
    def congested(self) -> bool:
        return bool(self._unasked)

    def advance_processing_time(self, now: int) -> None:
        self._go_on()

    def next_processing_time(self) -> int | None:
        """At a deadline; and, for engines that no thread can wake, the sooner the younger the oldest call is."""
        if (self._calls is not None and self._calls.finished) or (self._unasked and self._room):
            return _LONG_AGO
        oldest = self._oldest()
        if oldest is None:
            return None
        now = self.context.clock()
        look = now + max(_SHORTEST_LOOK_MS, (now - oldest.asked_at) // 4)
        return look if oldest.deadline is None else min(look, oldest.deadline)

    def _oldest(self) -> Call | None:
        while self._asked and self._asked[0].done:
            self._asked.popleft()
        return self._asked[0] if self._asked else None

    def _wait_while(self, condition: Callable[[], bool]) -> None:
        self._go_on()
        while condition():
            assert self._calls is not None, "the operator is not open"
            oldest = self._oldest()
            deadline = None if oldest is None else oldest.deadline
            self._calls.wait(None if deadline is None else max(0.0, (deadline - self.context.clock()) / 1000))
            self._go_on()

    # -- calls -------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Takes what has finished, passes on what may leave, and asks for as much as there is room for."""
        self._notice_finished()
        self._notice_timeouts()
        self._pass_on()
        self._ask()

    def _notice_finished(self) -> None:
        finished = () if self._calls is None else self._calls.finished
        while finished:
            call = finished.popleft()
            if not call.done and (call.deadline is None or call.finished_at <= call.deadline):
                self._settle(call, call.results, call.error)

    def _settle(self, call: Call, results: list[Any], error: BaseException | None = None) -> None:
        call.done, call.results = True, results
        self._queue.finish(call)
        if error is not None:
            told = f"in {type(self._function).__name__}.async_invoke() of the record {call.value!r:.1000}"
            if not isinstance(error, Exception):  # it may have cancelled itself
                raise JobExecutionError(f"{type(error).__name__} {told}") from error
            error.add_note(told)
            raise error

    def _notice_timeouts(self) -> None:
        now = self.context.clock()
        late: list[Call] = []
        while (oldest := self._oldest()) is not None and oldest.deadline is not None and oldest.deadline <= now:
            late.append(self._asked.popleft())
            self._settle(oldest, checked_results(self._function.timeout(oldest.value), self._function))
        if late and self._calls is not None:
            self._calls.drop(late)

    def _pass_on(self) -> None:
        for leaving in self._queue.leaving():
            if isinstance(leaving, list):
                batch = batch_of(leaving)
                if len(batch):
                    self._emit(batch)
            elif isinstance(leaving, Watermark):
                super().process_watermark(leaving.timestamp)
            else:
                super().process_idleness(leaving.idle)

    def _emit(self, results: Batch) -> None:
        self.output.emit(results)

    def _ask(self) -> None:
        assert self._calls is not None, "the operator is not open"
        now = self.context.clock()
        calls = [self._unasked.popleft() for _ in range(min(self._room, len(self._unasked)))]
        for call in calls:
            call.asked_at = now
            call.deadline = now + self._timeout if self._timeout > 0 else None
        if calls:
            self._asked.extend(calls)
            self._calls.start(calls)

    @property
    def _room(self) -> int:
        return self._capacity - (len(self._queue) - len(self._unasked))

    # -- what it remembers -------------------------------------------------------------------------------------

    def extra(self) -> list[Any]:
        return self._queue.content()  # also when it is empty: None would say that nothing has changed

    def restore_extra(self, extra: list[Any]) -> None:
        self._resume(extra)

    def take_over_extras(self, extras: dict[int, list[Any]], old_parallelism: int) -> None:
        """Records are dealt out to the new subtasks; the watermarks between them stay with those that had them."""
        parallelism, subtask = self.blueprint.parallelism, self.context.subtask
        if parallelism == old_parallelism:
            self._resume(extras.get(subtask, []))
        else:
            waiting = [item for _, extra in sorted(extras.items()) for item in extra if type(item) is tuple]
            self._resume(waiting[subtask::parallelism])

    def _resume(self, content: list[Any]) -> None:
        """They are asked for at the next look at the clock: more may be loaded before."""
        dropped = self._queue.calls()
        for call in dropped:
            call.done = True
        if self._calls is not None:
            self._calls.drop(dropped)
        self._forget()
        for item in content:
            if isinstance(item, Watermark | Idleness):
                self._queue.append_control(item)
            else:
                self._take(*item)
