"""Refused: a stream whose records are kept for the next job."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common.errors import NotSupportedError
from penstock.datastream.stream import DataStream

__all__ = ["CachedDataStream"]

REASON = (
    "cache() is not supported: Penstock keeps no intermediate results between jobs. Write the stream to files"
    " with a FileSink and read them in the next job, or let one job have several sinks."
)


class CachedDataStream(DataStream):
    """PyFlink's stream that a batch job keeps for later jobs; here ``cache()`` is refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedError(REASON)

    def invalidate(self) -> NoReturn:
        raise NotSupportedError(REASON)
