"""Reads savepoints of format 2: a file of frames for each subtask, and tuples of its own for each kind of operator."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import IO, Any

from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.pickling import dumps
from penstock.runtime.timers import TimerChanges
from penstock.runtime.valve import InputsSnapshot

_FRAME = struct.Struct("<IQ")  # bytes of the label, bytes of the content
_WINDOWS = ("window", "element_window", "tumbling_window", "sliding_window", "session_window", "window_of_two")
_BROADCASTS = ("broadcast", "keyed_broadcast")
_TIMED = (
    *_WINDOWS,
    "keyed_map",
    "keyed_filter",
    "keyed_flat_map",
    "keyed_co_map",
    "keyed_co_flat_map",
    "reduce",
    "keyed_process",
    "keyed_co_process",
    "keyed_broadcast",
    "interval_join",
)
_OF_FUNCTIONS = (
    *_TIMED,
    *_BROADCASTS,
    "map",
    "filter",
    "flat_map",
    "co_map",
    "co_flat_map",
    "process",
    "co_process",
    "sink_function",
)


class _Unpickler(pickle.Unpickler):
    """Classes have moved since."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("penstock.datastream.window_"):
            module = module.replace("penstock.datastream", "penstock.functions")
        if module == "penstock.runtime.operators.file_sink":
            return SimpleNamespace  # who starts from a savepoint begins new files under new names
        return super().find_class(module, name)


def pieces_of_version_2(file: IO[bytes], uid: str) -> Iterator[tuple[str | None, Callable[[], Any]]]:
    """The table (None for the rest) and how to load it, of each piece of an operator."""
    while frame := file.read(_FRAME.size):
        header, size = _FRAME.unpack(frame)
        owner, table = pickle.loads(file.read(header))
        after = file.tell() + size
        if owner == uid:
            yield table, _Unpickler(file).load
        file.seek(after, os.SEEK_SET)


def snapshot_of_version_2(kind: str, input_watermark: int, state: Any) -> OperatorSnapshot:
    """Peels the tuples of the kind of operator that wrote them."""
    snapshot = OperatorSnapshot(inputs=InputsSnapshot(input_watermark))
    if state is None:
        return snapshot
    if kind not in _OF_FUNCTIONS:
        return _of_itself(kind, snapshot, state)
    broadcast: dict[str, Any] = {}
    if kind in _BROADCASTS:
        state, broadcast = state
    if kind in _WINDOWS:
        state, snapshot.attributes["aggregation"] = state
    if kind in _TIMED:
        state, _, (event, processing) = state
        snapshot.timers = TimerChanges(event, processing)
    snapshot.watermark, snapshot.attributes["function"], unkeyed = state
    snapshot.operator_state = {**(unkeyed or {}), **broadcast}
    return snapshot


def _of_itself(kind: str, snapshot: OperatorSnapshot, state: Any) -> OperatorSnapshot:
    """Of operators that kept something which only they understand."""
    if kind == "timestamps":
        snapshot.watermark, snapshot.extra = state[1], dumps(state)
    elif kind == "sink":
        snapshot.watermark = state[0]
    return snapshot
