"""Collects the vitals of all operators of a container, from one epoch to the next."""

from __future__ import annotations

from collections import Counter

from penstock.runtime.blueprint import JobSettings
from penstock.runtime.chunk import Payload
from penstock.runtime.report import SubtaskReport
from penstock.runtime.stack_samples import sampler
from penstock.runtime.station import Station
from penstock.runtime.vitals import OperatorVitals, StateSizes, process_vitals
from penstock.runtime.wiring import Wiring


class ContainerVitals:
    """What stations and exchanges count for ever is told as what was new in the epoch."""

    def __init__(self, settings: JobSettings, wiring: Wiring) -> None:
        self.times = wiring.times
        self._stations = wiring.stations
        self._ways_out = wiring.ways_out
        self._writers = list(wiring.writers.values())
        self._bytes_in: Counter[int] = Counter()
        self._told: Counter[tuple[str, int]] = Counter()
        self._sizes = {id_: StateSizes() for id_ in wiring.stations}
        if settings.stack_sample_ms:
            sampler.watch(self.times, settings.stack_sample_ms)

    def received(self, operator: int, payload: Payload) -> None:
        self._bytes_in[operator] += len(payload)

    def put_into(self, report: SubtaskReport) -> None:
        bytes_out: Counter[int] = Counter()
        for writer in self._writers:
            bytes_out[writer.edge.source] += writer.bytes_sent
        for id_, station in self._stations.items():
            report.vitals[id_] = self._of(id_, station, bytes_out[id_])
        report.process = process_vitals()

    def measure_state(self, report: SubtaskReport) -> None:
        """Right after the epoch's snapshot."""
        for id_, station in self._stations.items():
            report.vitals[id_].states = self._sizes[id_].of(station.operator.memory)

    def _of(self, id_: int, station: Station, bytes_out: int) -> OperatorVitals:
        stacks, station.stacks = station.stacks, {}
        latencies, station.latencies = station.latencies, {}
        hot, timers = station.hot_keys, station.operator.memory.timers
        return OperatorVitals(
            records_out=self._new("records", id_, sum(way.records_sent for way in self._ways_out[id_])),
            bytes_in=self._new("bytes in", id_, self._bytes_in[id_]),
            bytes_out=self._new("bytes out", id_, bytes_out),
            busy_ms=self._new("busy", id_, station.busy_ns) / 1e6,
            timers=len(timers.event) + len(timers.processing),
            hot_keys=() if hot is None else hot.hottest(),
            keys_sampled=0 if hot is None else hot.sampled,
            stacks=stacks,
            latencies={source: tuple(seen) for source, seen in latencies.items()},
        )

    def _new(self, what: str, id_: int, total: int) -> int:
        before, self._told[what, id_] = self._told[what, id_], total
        return total - before
