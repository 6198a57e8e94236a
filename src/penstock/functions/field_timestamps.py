"""Event time that is a field of the record: known without a call of user code, so that it can stay a column."""

from __future__ import annotations

from typing import Any

from penstock.common.watermark_strategy import TimestampAssigner

__all__ = ["FieldTimestamps"]


class FieldTimestamps(TimestampAssigner):
    """Takes milliseconds since 1970 from a field of tuples or rows."""

    def __init__(self, position: int) -> None:
        self.position = position

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[self.position]  # type: ignore[no-any-return]
