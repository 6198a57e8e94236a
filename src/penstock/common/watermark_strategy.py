"""How event time is told: timestamps of records, and watermarks that say how far time has come."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.time import Duration

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "TimestampAssigner",
    "Watermark",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]


class TimestampAssigner(abc.ABC):
    """Tells the event time of a record, in milliseconds since 1970."""

    @abc.abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """The timestamp of the record; ``record_timestamp`` is the one it has already, if any."""


@dataclasses.dataclass(frozen=True, order=True)
class Watermark:
    """Says that no record with this timestamp or an earlier one is expected any more."""

    timestamp: int


class WatermarkOutput(abc.ABC):
    """Where a generator puts its watermarks."""

    @abc.abstractmethod
    def emit_watermark(self, watermark: Watermark | int) -> None:
        """Emits a watermark; one that is not higher than the last has no effect."""

    @abc.abstractmethod
    def mark_idle(self) -> None:
        """Says that this input has nothing to tell for now; others need not wait for it."""

    @abc.abstractmethod
    def mark_active(self) -> None:
        """Ends idleness; the next watermark does so too."""


class WatermarkGenerator(abc.ABC):
    """Makes watermarks in Python: for each record (punctuated), at intervals (periodic), or both."""

    @abc.abstractmethod
    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        """Called for every record, after its timestamp was assigned."""

    @abc.abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Called at the auto-watermark interval."""


class GeneratorKind(Enum):
    """Which watermarks a strategy makes; the runtime has the code of the built-in ones."""

    NONE = "none"
    MONOTONOUS = "monotonous"
    BOUNDED_OUT_OF_ORDERNESS = "bounded-out-of-orderness"
    CUSTOM = "custom"


@dataclasses.dataclass(frozen=True)
class Alignment:
    """The group whose slowest source the others wait for, and how far ahead they may be."""

    group: str
    max_drift_ms: int


@dataclasses.dataclass(frozen=True, repr=False)
class WatermarkStrategy:
    """Timestamps and watermarks of a stream; each ``with_...`` returns a new strategy.

    >>> strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    >>> strategy.with_idleness(Duration.of_minutes(1)).idle_timeout_ms
    60000
    """

    generator: GeneratorKind = GeneratorKind.NONE
    max_out_of_orderness_ms: int = 0
    generator_supplier: Callable[[], WatermarkGenerator] | None = None
    timestamp_assigner: TimestampAssigner | None = None
    idle_timeout_ms: int | None = None
    alignment: Alignment | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.generator, GeneratorKind):
            raise NotSupportedError(
                f"WatermarkStrategy({self.generator!r}): Java's strategies do not run on Penstock. Use a"
                " factory such as WatermarkStrategy.for_monotonous_timestamps(), or for_generator()."
            )

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        """Takes the timestamps from the assigner."""
        if not callable(getattr(timestamp_assigner, "extract_timestamp", None)):
            raise TypeError(
                "with_timestamp_assigner() takes a TimestampAssigner with extract_timestamp(value,"
                f" record_timestamp), not {timestamp_assigner!r}."
            )
        return dataclasses.replace(self, timestamp_assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """Calls an input idle that had no record for so long, so that it does not hold the others back."""
        timeout = _millis(idle_timeout, "with_idleness()")
        if timeout <= 0:
            raise ValueError(f"with_idleness() takes a positive Duration, not {idle_timeout!r}.")
        return dataclasses.replace(self, idle_timeout_ms=timeout)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy:
        """Lets a source wait that is further ahead than this of the slowest one of the group.

        It acts from epoch to epoch, whatever the update interval, and only in ``env.from_source()``.
        """
        if update_interval is not None:
            _millis(update_interval, "with_watermark_alignment()")
        drift = _millis(max_allowed_watermark_drift, "with_watermark_alignment()")
        return dataclasses.replace(self, alignment=Alignment(watermark_group, drift))

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """For streams whose timestamps never go back."""
        return WatermarkStrategy(GeneratorKind.MONOTONOUS)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """For streams whose records come at most so much late."""
        bound = _millis(max_out_of_orderness, "for_bounded_out_of_orderness()")
        if bound < 0:
            raise ValueError(f"Records cannot be out of order by a negative time: {max_out_of_orderness!r}.")
        return WatermarkStrategy(GeneratorKind.BOUNDED_OUT_OF_ORDERNESS, max_out_of_orderness_ms=bound)

    @staticmethod
    def for_generator(supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Watermarks from a :class:`WatermarkGenerator` of your own: its class, or a function that makes one.

        Beyond PyFlink, where generators can only be written in Java.
        """
        if isinstance(supplier, WatermarkGenerator) or not callable(supplier):
            raise TypeError(
                "for_generator() takes a WatermarkGenerator class or a function that makes a new generator"
                f" for each source subtask, not {supplier!r}."
            )
        return WatermarkStrategy(GeneratorKind.CUSTOM, generator_supplier=supplier)

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """For streams that do not use event time."""
        return WatermarkStrategy()

    def __repr__(self) -> str:
        parts = [self.generator.value]
        if self.generator is GeneratorKind.BOUNDED_OUT_OF_ORDERNESS:
            parts.append(f"{self.max_out_of_orderness_ms} ms")
        if self.timestamp_assigner is not None:
            parts.append(f"timestamps from {type(self.timestamp_assigner).__name__}")
        if self.idle_timeout_ms is not None:
            parts.append(f"idle after {self.idle_timeout_ms} ms")
        return f"WatermarkStrategy<{', '.join(parts)}>"


def _millis(duration: Duration, where: str) -> int:
    if not isinstance(duration, Duration):
        raise TypeError(f"{where} takes a Duration such as Duration.of_seconds(5), not {duration!r}.")
    return duration.to_millis()


class AssignerWithPeriodicWatermarksWrapper:
    """PyFlink's wrapper of Java assigners, which do not run here."""

    def __init__(self, j_assigner_with_periodic_watermarks: Any = None) -> None:
        raise NotSupportedError(
            "AssignerWithPeriodicWatermarksWrapper wraps Java code, which does not run on Penstock."
            " Use WatermarkStrategy.for_generator() with a WatermarkGenerator in Python."
        )
