"""The results of a job, handed to the program that started it."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from penstock.control.running_job import RunningJob

__all__ = ["CloseableIterator"]


class CloseableIterator(Iterator[Any]):
    """Iterates over the results of ``ds.execute_and_collect()`` while the job runs; closing cancels the job.

    Use it in a ``with`` statement, so that a job that never ends does not outlive the interest in it::

        with ds.execute_and_collect() as results:
            for result in results:
                ...
    """

    def __init__(self, job: RunningJob, records: Iterator[Any]) -> None:
        self._job = job
        self._records = records
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._closed:
            raise StopIteration
        return next(self._records)

    def next(self) -> Any:
        """The next result; raises StopIteration after the last one."""
        return self.__next__()

    def close(self) -> None:
        """Cancels the job if it still runs; no results follow."""
        if not self._closed:
            self._closed = True
            if not self._job.status().is_terminal_state():
                self._job.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
