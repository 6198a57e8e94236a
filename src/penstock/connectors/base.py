"""What all connectors share: the bases of sources and sinks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Any

from penstock.common.errors import NotSupportedError
from penstock.functions.source_sink import JavaFunctionWrapper

if TYPE_CHECKING:
    from penstock.common.typeinfo import TypeInformation
    from penstock.runtime.sources.base import Source as RuntimeSource

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class Source(JavaFunctionWrapper):
    """Base of the sources that ``env.from_source`` takes. PyFlink's wraps a Java source; that is refused here."""

    def __init__(self, source: Any = None) -> None:
        if source is not None:
            super().__init__(source)

    def _runtime_source(self) -> RuntimeSource:
        """What plans and reads this source."""
        raise NotSupportedError(f"{type(self).__name__} cannot be read by Penstock: use one of its own sources.")

    def _produced_type(self) -> TypeInformation | None:
        """The type of the records, when the source knows it."""
        return None


class Sink(JavaFunctionWrapper):
    """Base of the sinks that ``ds.sink_to`` takes. PyFlink's wraps a Java sink; that is refused here."""

    def __init__(self, sink: Any = None) -> None:
        if sink is not None:
            super().__init__(sink)

    def _attach(self, stream: Any) -> Any:
        """Adds this sink to the stream's program."""
        raise NotSupportedError(f"{type(self).__name__} cannot be written by Penstock: use one of its own sinks.")


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
