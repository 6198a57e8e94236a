"""What all connectors share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from penstock.functions.sink import Sink
from penstock.functions.source import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class DeliveryGuarantee(Enum):
    """How often a record reaches the outside after failures.

    EXACTLY_ONCE: once, made visible together with the epoch.
    AT_LEAST_ONCE: once or, after a failure, again.
    NONE: a failure may lose it or repeat it.
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class StreamTransformer(ABC):
    """Changes a stream before a sink gets it."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """The stream that the sink shall see."""


class SupportsPreprocessing(ABC):
    """A sink that wants its stream changed first."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """What to apply to the stream in front of the sink; None for nothing."""
