"""The entry points of asynchronous I/O."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.functions.async_io import AsyncFunction, AsyncFunctionDescriptor, AsyncRetryStrategy
from penstock.functions.async_retry import NO_RETRY_STRATEGY

if TYPE_CHECKING:
    from penstock.common.time import Time
    from penstock.common.typeinfo import TypeInformation
    from penstock.datastream.data_stream import DataStream

__all__ = ["AsyncDataStream"]

_Mode = AsyncFunctionDescriptor.OutputMode


class AsyncDataStream:
    """Applies an AsyncFunction to a stream: up to ``capacity`` calls of each subtask are under way at a time.

    Example::

        class Price(AsyncFunction):
            async def async_invoke(self, item):
                answer = await ask_the_shop(item)
                return [(item, answer)]

        priced = AsyncDataStream.unordered_wait(items, Price(), Time.seconds(5), capacity=200)
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results as soon as they are there; records never pass a watermark."""
        return _wait(_Mode.UNORDERED, data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results as soon as they are there; try failed calls again until the timeout."""
        return _wait(_Mode.UNORDERED, data_stream, async_function, timeout, async_retry_strategy, capacity, output_type)

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results in the order of their inputs."""
        return _wait(_Mode.ORDERED, data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results in the order of their inputs; try failed calls again until the timeout."""
        return _wait(_Mode.ORDERED, data_stream, async_function, timeout, async_retry_strategy, capacity, output_type)


def _wait(
    mode: AsyncFunctionDescriptor.OutputMode,
    stream: DataStream,
    function: AsyncFunction[Any, Any],
    timeout: Time,
    strategy: AsyncRetryStrategy[Any],
    capacity: int,
    output_type: TypeInformation | None,
) -> DataStream:
    _check(function, timeout, strategy, capacity)
    described = AsyncFunctionDescriptor(function, timeout, capacity, strategy, mode)
    return stream._transform("async", "async wait operator", described, output_type=output_type)


def _check(function: AsyncFunction[Any, Any], timeout: Time, strategy: AsyncRetryStrategy[Any], capacity: int) -> None:
    if not isinstance(function, AsyncFunction):
        raise ProgramError(f"async I/O takes an AsyncFunction, got {function!r}")
    if not inspect.iscoroutinefunction(function.async_invoke):
        raise ProgramError(f"Method 'async_invoke' of {type(function).__name__} should be declared as 'async def'.")
    if not isinstance(strategy, AsyncRetryStrategy) or strategy.get_retry_predicate() is None:
        raise ProgramError(
            f"{strategy!r} is no retry strategy: use AsyncRetryStrategy.fixed_delay() or its neighbours."
        )
    if not hasattr(timeout, "to_milliseconds"):
        raise ProgramError(f"The timeout of async I/O is a Time, as Time.seconds(5), got {timeout!r}.")
    if strategy is not NO_RETRY_STRATEGY and timeout.to_milliseconds() <= 0:
        raise ProgramError("Timeout should be configured when do async with retry: give one above zero.")
    if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity <= 0:
        raise ProgramError(f"the capacity of async I/O must be greater than zero, got {capacity}")
