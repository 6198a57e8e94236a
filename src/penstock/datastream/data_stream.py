"""All stream classes, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.datastream.cached_data_stream import CachedDataStream
from penstock.datastream.closeable_iterator import CloseableIterator
from penstock.datastream.connected_streams import (
    BroadcastConnectedStream,
    BroadcastStream,
    ConnectedStreams,
)
from penstock.datastream.data_stream_sink import DataStreamSink
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.stream import DataStream

if TYPE_CHECKING:
    from penstock.datastream.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]


def __getattr__(name: str) -> Any:
    # Windowed streams build on the streams above: loaded on first use, whichever module is imported first.
    if name in ("AllWindowedStream", "WindowedStream"):
        return getattr(import_module("penstock.datastream.windowed_stream"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
