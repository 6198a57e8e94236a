"""What sinks, and those that sort their records into files, may ask about the record in hand."""

from __future__ import annotations

from penstock.functions.source_sink import SinkFunction
from penstock.runtime.operators.base import Operator


class RecordContext(SinkFunction.Context):
    """The clocks, and the timestamp of the record that is being written."""

    __penstock_transient__ = True

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.record_timestamp: int | None = None

    def current_processing_time(self) -> int:
        return self._operator.context.clock()

    def current_watermark(self) -> int:
        return self._operator.watermark

    def timestamp(self) -> int | None:
        return self.record_timestamp
