"""What subtasks tell about themselves beside their results: counts, sizes, times. Nobody computes with it."""

from __future__ import annotations

import os
import pickle
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from penstock.runtime.operator_memory import OperatorMemory
from penstock.runtime.stack_samples import Stacks

_MEASURED_ENTRIES = 8  # of each state, to estimate how many bytes an entry has
_SIZES_EVERY_SECONDS = 5.0
_PROCESS_EVERY_SECONDS = 1.0


@dataclass
class OperatorVitals:
    """Of one operator subtask in one epoch; sizes are those at its end."""

    records_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    busy_ms: float = 0.0
    timers: int = 0
    states: dict[str, tuple[int, int]] = field(default_factory=dict)  # by name: entries and about how many bytes
    hot_keys: tuple[tuple[str, int], ...] = ()  # sampled since the container was made: key as text, times seen
    keys_sampled: int = 0
    stacks: Stacks = field(default_factory=dict)
    latencies: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by source: milliseconds of its markers


@dataclass(frozen=True)
class ProcessVitals:
    """Of the process that ran a subtask."""

    host: str
    pid: int
    resident_bytes: int
    cpu_seconds: float

    @property
    def worker(self) -> str:
        return f"{self.host}:{self.pid}"


_looked_at_process: tuple[float, ProcessVitals] | None = None


def process_vitals() -> ProcessVitals:
    """At most a second old: asking the system takes longer than a small epoch of many."""
    global _looked_at_process
    now, known = time.monotonic(), _looked_at_process
    if known is None or now - known[0] > _PROCESS_EVERY_SECONDS or known[1].pid != os.getpid():
        known = _looked_at_process = now, _process_vitals()
    return known[1]


def _process_vitals() -> ProcessVitals:
    import psutil

    process = psutil.Process()
    with process.oneshot():
        times = process.cpu_times()
        return ProcessVitals(
            socket.gethostname(), os.getpid(), process.memory_info().rss, round(times.user + times.system, 2)
        )


class StateSizes:
    """Entries and about how many bytes the states of an operator have; bytes are looked at now and then.

    Right after a snapshot: then no changes lie beside the tables, which would have to be counted one by one.
    """

    def __init__(self) -> None:
        self._looked_at = -_SIZES_EVERY_SECONDS
        self._bytes_per_entry: dict[str, float] = {}

    def of(self, memory: OperatorMemory) -> dict[str, tuple[int, int]]:
        now = time.monotonic()
        measure = now - self._looked_at >= _SIZES_EVERY_SECONDS
        if measure:
            self._looked_at = now
        sizes: dict[str, tuple[int, int]] = {}
        for name, base in _entries_of(memory):
            if measure or name not in self._bytes_per_entry:
                self._bytes_per_entry[name] = _mean_bytes(base)
            sizes[name] = len(base), round(len(base) * self._bytes_per_entry[name])
        return sizes


def _entries_of(memory: OperatorMemory) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Tables in memory; those on disk would have to be counted one by one."""
    if memory.keyed.on_disk:
        return
    for name, table in memory.keyed.tables():
        base = getattr(table, "base", None)
        if isinstance(base, dict):
            yield name, base


def _mean_bytes(base: dict[Any, Any]) -> float:
    entries = list(islice(base.items(), _MEASURED_ENTRIES))
    try:
        return sum(len(pickle.dumps(entry, 5)) for entry in entries) / max(1, len(entries))
    except Exception:  # what cannot be pickled will be noticed by the snapshot, with the operator's name
        return 0.0
