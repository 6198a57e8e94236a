"""What a sink function may ask about the record in hand, where a SinkWriter calls it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.functions.sink import Records, WriterContext
from penstock.functions.source_sink import SinkFunction

_NONE = -(1 << 63)


class WrittenRecord(SinkFunction.Context):
    """The clocks of the writer, and the timestamp of the record that each_of() has given last."""

    def __init__(self, context: WriterContext) -> None:
        self._writer = context
        self._timestamp: int | None = None

    def each_of(self, records: Records) -> Iterator[Any]:
        timestamps = records.timestamps or [_NONE] * len(records)
        for value, timestamp in zip(records.values, timestamps, strict=True):
            self._timestamp = None if timestamp == _NONE else timestamp
            yield value

    def current_processing_time(self) -> int:
        return self._writer.current_processing_time()

    def current_watermark(self) -> int:
        return self._writer.current_watermark()

    def timestamp(self) -> int | None:
        return self._timestamp
