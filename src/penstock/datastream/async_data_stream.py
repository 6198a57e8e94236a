"""The entry points of asynchronous I/O, which is not there yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from penstock.common.errors import NotSupportedError

if TYPE_CHECKING:
    from penstock.common.time import Time
    from penstock.common.typeinfo import TypeInformation
    from penstock.datastream.data_stream import DataStream
    from penstock.functions.async_io import AsyncFunction, AsyncRetryStrategy

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an AsyncFunction to a stream. All methods are refused until async I/O is there."""

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results as soon as they are there."""
        _refuse("unordered_wait")

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results as soon as they are there; try failed calls again."""
        _refuse("unordered_wait_with_retry")

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results in the order of their inputs."""
        _refuse("ordered_wait")

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Emit results in the order of their inputs; try failed calls again."""
        _refuse("ordered_wait_with_retry")


def _refuse(method: str) -> NoReturn:
    raise NotSupportedError(
        f"AsyncDataStream.{method}: there is no async I/O yet; call the service from a map or flat_map function"
    )
