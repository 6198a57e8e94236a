"""The old data first, then the new, as one stream."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.base import Source
from penstock.functions.source import Source as AnySource
from penstock.runtime.sources.base import SourcePlanner
from penstock.runtime.sources.hybrid import HybridPlanner
from penstock.runtime.sources.splits import SplitPlanner

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(Source):
    """Reads a source to its end, then the next, without a gap: files first, for example, then Kafka.

    Example::

        source = HybridSource.builder(files).add_source(kafka).build()
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "all of it")

    All but the last have to be bounded. Which source is read, and how far, is part of every snapshot.
    """

    def __init__(self, j_hybrid_source: Any = None, *, sources: list[AnySource] | None = None) -> None:
        super().__init__(j_hybrid_source)
        if not sources:
            raise ProgramError("Make a HybridSource with HybridSource.builder(first).add_source(next).build().")
        self._sources = sources

    @staticmethod
    def builder(first_source: AnySource) -> HybridSourceBuilder:
        return HybridSourceBuilder(first_source)

    def _planner(self) -> SourcePlanner:
        return HybridPlanner([_planner_of(source) for source in self._sources])

    def get_produced_type(self) -> TypeInformation | None:
        return next((t for t in (source.get_produced_type() for source in self._sources) if t is not None), None)


class HybridSourceBuilder:
    """Sources in the order in which they are read."""

    def __init__(self, j_hybrid_source_builder: Any) -> None:
        self._sources: list[AnySource] = []
        self.add_source(j_hybrid_source_builder)

    def add_source(self, source: AnySource) -> HybridSourceBuilder:
        if not isinstance(source, AnySource):
            raise ProgramError(f"HybridSource takes sources such as FileSource, not {source!r}.")
        if self._sources and not _planner_of(self._sources[-1]).bounded:
            raise ProgramError(
                f"HybridSource: {type(self._sources[-1]).__name__} never ends, so nothing can come after it. Let it end"
                " (bounded), or make it the last."
            )
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        return HybridSource(sources=list(self._sources))


def _planner_of(source: AnySource) -> SourcePlanner:
    return source._planner() or SplitPlanner(source)
