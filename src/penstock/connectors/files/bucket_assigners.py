"""Which directory below a file sink's path a record goes to."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.common.utils import JavaObjectWrapper
from penstock.connectors.files.java_time_pattern import parse_pattern

__all__ = ["BucketAssigner"]


class BucketAssigner(JavaObjectWrapper):
    """Chooses the bucket (a directory) of each record.

    Use one of the two factories, or write a subclass with :meth:`get_bucket_id`.
    """

    def get_bucket_id(self, element: Any, context: Any) -> str:
        """The path of the record's bucket below the sink's path; "" for the path itself.

        The context has ``current_processing_time()``, ``current_watermark()`` and ``timestamp()``.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement get_bucket_id(element, context) -> str.")

    def bucket_at(self, now: int) -> str | None:
        """The bucket of all records that arrive at this moment, when it does not depend on the record."""
        return None

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Puts all part files directly into the sink's path."""
        return _BasePath()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """One directory for each hour (or whatever the Java date-time pattern says), by processing time."""
        return _DateTime(format_str, timezone_id)


class _BasePath(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> str:
        return ""

    def bucket_at(self, now: int) -> str:
        return ""


class _DateTime(BucketAssigner):
    def __init__(self, pattern: str, timezone_id: str | None) -> None:
        super().__init__()
        self._pattern = pattern
        self._timezone_id = timezone_id
        self._prepare()

    def _prepare(self) -> None:
        self._parts = parse_pattern(self._pattern)
        self._zone: tzinfo | None = None if self._timezone_id is None else _zone(self._timezone_id)

    def __getstate__(self) -> tuple[str, str | None]:
        return self._pattern, self._timezone_id

    def __setstate__(self, state: tuple[str, str | None]) -> None:
        self._pattern, self._timezone_id = state
        self._prepare()

    def get_bucket_id(self, element: Any, context: Any) -> str:
        return self.bucket_at(context.current_processing_time())

    def bucket_at(self, now: int) -> str:
        seconds, millis = divmod(now, 1_000)
        moment = datetime.fromtimestamp(seconds, self._zone).replace(microsecond=millis * 1_000)
        return "".join(part(moment) for part in self._parts)


def _zone(timezone_id: str) -> ZoneInfo:
    try:
        return ZoneInfo(timezone_id)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"Unknown time zone {timezone_id!r}; an example is 'Europe/Berlin'.") from None
