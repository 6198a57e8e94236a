"""A stream that a batch job may keep for later jobs; Penstock computes it again, as Flink does when it has lost it."""

from __future__ import annotations

from penstock.datastream.stream import DataStream

__all__ = ["CachedDataStream"]


class CachedDataStream(DataStream):
    """``ds.cache()`` makes it."""

    def __init__(self, j_data_stream: DataStream) -> None:
        origin = j_data_stream
        super().__init__(origin._env, origin._upstreams, origin._type_info, origin._nodes)

    def invalidate(self) -> None:
        """There is nothing to forget."""
