"""When partitions of a file table are complete, and how whoever reads them is told: `sink.partition-commit.*`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from penstock.columns.kernels.date_patterns import parse_moment
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.table.connectors.base import ConnectorTable

PARTITION_OPTIONS = (
    "sink.partition-commit.trigger", "sink.partition-commit.delay", "sink.partition-commit.watermark-time-zone",
    "sink.partition-commit.policy.kind", "sink.partition-commit.success-file.name", "partition.time-extractor.kind",
    "partition.time-extractor.timestamp-pattern", "partition.time-extractor.timestamp-formatter",
)  # fmt: skip
_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H", "%Y-%m-%d")


@dataclass(frozen=True)
class PartitionCommit:
    """A partition is due `delay` ms after its own time, by the watermark; or after its first row, by the clock."""

    by_watermark: bool
    delay: int
    pattern: str | None
    zone: str
    success_file: str
    formatter: str | None = None  # as Java writes them: yyyyMMdd HH

    def due_at(self, partition: str, since: int) -> int:
        return (self._time_of(partition) if self.by_watermark else since) + self.delay

    def _time_of(self, partition: str) -> int:
        """Of `day=2024-01-01/hour=5`, in the form that the pattern gives its values."""
        values = dict(part.split("=", 1) for part in partition.split("/"))
        values = {unquote(key): unquote(value) for key, value in values.items()}
        text = next(iter(values.values()))
        if self.pattern is not None:
            text = re.sub(r"\$(\w+)", lambda found: values.get(found[1], found[0]), self.pattern)
        wall = self._read(text)
        if wall is not None:
            return int(wall.replace(tzinfo=ZoneInfo(self.zone)).timestamp() * 1000)
        raise JobExecutionError(
            f"The partition {partition!r} has no time: {text!r} is none. Set"
            " 'partition.time-extractor.timestamp-pattern' of the table to something like '$day $hour:00:00', or"
            " 'partition.time-extractor.timestamp-formatter' to the form that its values have."
        )

    def _read(self, text: str) -> datetime | None:
        if self.formatter is not None:
            found = parse_moment(text, self.formatter)
            return None if found is None else datetime(1970, 1, 1) + timedelta(microseconds=found[0] // 1000)
        for form in _FORMS:
            try:
                return datetime.strptime(text, form)
            except ValueError:
                continue
        return None


def partition_commit_of(table: ConnectorTable) -> PartitionCommit | None:
    """What the options say; None when nobody wants to be told."""
    kinds = [one for one in table.options.get("sink.partition-commit.policy.kind", "").split(",") if one.strip()]
    if not kinds or not table.partition_keys:
        return None
    for kind in kinds:
        if kind.strip().lower() != "success-file":
            raise NotSupportedError(
                f"'sink.partition-commit.policy.kind' of {table.name}: {kind.strip()!r} is not there, success-file is."
            )
    if table.text("partition.time-extractor.kind", "default").lower() != "default":
        raise NotSupportedError(f"'partition.time-extractor.kind' of {table.name}: only default is there.")
    trigger = table.chosen("sink.partition-commit.trigger", ("process-time", "partition-time"), "process-time")
    zone = table.text("sink.partition-commit.watermark-time-zone", "UTC")
    try:
        ZoneInfo(zone)
    except (ValueError, KeyError):
        raise ProgramError(f"'sink.partition-commit.watermark-time-zone' of {table.name}: no zone {zone!r}.") from None
    return PartitionCommit(
        trigger == "partition-time",
        table.millis("sink.partition-commit.delay", 0) or 0,
        table.options.get("partition.time-extractor.timestamp-pattern"),
        zone,
        table.text("sink.partition-commit.success-file.name", "_SUCCESS"),
        table.options.get("partition.time-extractor.timestamp-formatter"),
    )
