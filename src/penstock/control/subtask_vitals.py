"""The vitals of all subtasks on the driver: totals since it started, and rates over the last second or so."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from penstock.metrics.values import CounterValue, GaugeValue, MetricValue
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.report import SubtaskReport
from penstock.runtime.stack_samples import Stacks
from penstock.runtime.vitals import ProcessVitals

_WINDOW_SECONDS = 1.0
_STALE_SECONDS = 5.0  # with nothing to do there are no epochs, and nobody reports that nothing happens
_MOST_STACKS = 2000
_LATENCIES = 128

RATES = {
    "records_in": "numRecordsInPerSecond",
    "records_out": "numRecordsOutPerSecond",
    "bytes_in": "numBytesInPerSecond",
    "bytes_out": "numBytesOutPerSecond",
}
TOTALS = {
    "records_in": "numRecordsIn",
    "records_out": "numRecordsOut",
    "bytes_in": "numBytesIn",
    "bytes_out": "numBytesOut",
    "busy_ms": "accumulateBusyTimeMs",
    "pressed_ms": "accumulateBackPressuredTimeMs",
    "idle_ms": "accumulateIdleTimeMs",
}


@dataclass
class SubtaskTotals:
    """Of one operator subtask."""

    totals: Counter[str] = field(default_factory=Counter)
    window: Counter[str] = field(default_factory=Counter)
    gauges: dict[str, float] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    hot_keys: tuple[tuple[str, int], ...] = ()
    keys_sampled: int = 0
    worker: str | None = None
    first_seen: int = 0
    _latencies: dict[str, deque[int]] = field(default_factory=dict)

    def latencies(self, new: Mapping[str, Sequence[int]]) -> dict[str, float]:
        """Of the newest markers of each source, in milliseconds."""
        gauges: dict[str, float] = {}
        for source, seen in new.items():
            self._latencies.setdefault(source, deque(maxlen=_LATENCIES)).extend(seen)
        for source, kept in self._latencies.items():
            ordered, prefix = sorted(kept), f"latency.source_id.{source}"
            gauges |= {f"{prefix}.min": ordered[0], f"{prefix}.max": ordered[-1], f"{prefix}.mean": fmean(ordered)}
            for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
                gauges[f"{prefix}.{name}"] = ordered[min(len(ordered) - 1, int(part * len(ordered)))]
        return gauges


class SubtaskVitals:
    """By operator id and subtask; the clock is that of time spent, in seconds."""

    def __init__(self, job: JobBlueprint, clock: Callable[[], float] = time.monotonic) -> None:
        self._levels = {operator.id: operator.level for operator in job.operators}
        self._clock = clock
        self._since = clock()
        self._rolled = False
        self._pressed: dict[tuple[int, int], float] = {}  # by level and subtask, when tasks say so
        self._held_up: float | None = None  # seconds in this window, when somebody has told any
        self._held_up_share = 0.0
        self.subtasks: dict[tuple[int, int], SubtaskTotals] = {}
        self.stacks: dict[tuple[int, int], Stacks] = {}
        self.processes: dict[str, ProcessVitals] = {}

    def count(self, reports: Iterable[SubtaskReport], now_ms: int) -> None:
        for report in reports:
            worker = None if report.process is None else report.process.worker
            if report.process is not None:
                self.processes[report.process.worker] = report.process
            if report.pressed is not None:
                self._pressed[report.level, report.subtask] = report.pressed
            for id_, vitals in report.vitals.items():
                known = self.subtasks.setdefault((id_, report.subtask), SubtaskTotals(first_seen=now_ms))
                known.worker = worker or known.worker
                new = Counter(
                    records_in=report.records_in.get(id_, 0),
                    records_out=vitals.records_out,
                    bytes_in=vitals.bytes_in,
                    bytes_out=vitals.bytes_out,
                )
                new["busy_ms"] = vitals.busy_ms  # type: ignore[assignment]
                known.totals.update(new)
                known.window.update(new)
                known.gauges = {"numTimers": vitals.timers, **_watermarks(report, id_, now_ms)}
                known.gauges |= {"lastSnapshotSize": report.changed_bytes, "lastSnapshotDuration": report.snapshot_ms}
                for name, (entries, size) in vitals.states.items():
                    known.gauges |= {f"state.{name}.entries": entries, f"state.{name}.bytes": size}
                known.gauges |= known.latencies(vitals.latencies)
                known.hot_keys, known.keys_sampled = vitals.hot_keys, vitals.keys_sampled
                self._keep_stacks((id_, report.subtask), vitals.stacks)
        if self._clock() - self._since >= _WINDOW_SECONDS:
            self._roll()

    def hold_up(self, seconds: float) -> None:
        """So long there was something to read, and no room for another epoch: told when the next one begins."""
        self._held_up = (self._held_up or 0.0) + seconds

    def read_rate(self, sources: Iterable[int]) -> float | None:
        """Records that these operators read in a second; None before the first second is over."""
        if not self._rolled:
            return None
        name, wanted = RATES["records_in"], frozenset(sources)
        return sum(known.rates.get(name, 0.0) for (id_, _), known in self.subtasks.items() if id_ in wanted)

    def settle(self, under_way: bool) -> bool:
        """Whether all is quiet: no epoch is under way, however long that may take, and none was for a while."""
        quiet = not under_way and self._clock() - self._since >= _STALE_SECONDS
        if quiet:
            self.hold_up(0.0)
            self._roll()
        return quiet

    def metrics(self, operator: int, subtask: int) -> dict[str, MetricValue]:
        """Flink's names."""
        known = self.subtasks.get((operator, subtask))
        if known is None:
            return {}
        values: dict[str, MetricValue] = {name: CounterValue(round(known.totals[key])) for key, name in TOTALS.items()}
        return values | {name: GaugeValue(value) for name, value in {**known.rates, **known.gauges}.items()}

    def _roll(self) -> None:
        """A window ends: what happened in it becomes rates."""
        now = self._clock()
        seconds, self._since, self._rolled = max(now - self._since, 1e-9), now, True
        if self._held_up is not None:  # else no epoch began, so that all still wait as they did
            self._held_up_share, self._held_up = self._held_up / seconds, None
        busy: defaultdict[tuple[int, int], float] = defaultdict(float)  # by level and subtask
        for (id_, subtask), known in self.subtasks.items():
            busy[self._levels[id_], subtask] += known.window["busy_ms"] / 1000 / seconds
        busiest: dict[int, float] = {}
        for (level, _), share in busy.items():
            busiest[level] = max(share, busiest.get(level, 0.0))
        for (id_, subtask), known in self.subtasks.items():
            level = self._levels[id_]
            all_busy = min(1.0, busy[level, subtask])
            # In micro-batches a level waits while those after it work; the next epoch cannot begin before. Tasks that
            # stay know when they have no room, but not when nothing comes because those after them hold up epochs.
            waits = sum(share for other, share in busiest.items() if other > level)
            if (level, subtask) in self._pressed:
                waits = max(self._pressed[level, subtask], min(self._held_up_share, waits))
            pressed = min(waits, 1.0 - all_busy)
            known.rates = {name: round(known.window[key] / seconds, 3) for key, name in RATES.items()}
            idle = max(0.0, 1.0 - all_busy - pressed)
            known.rates |= {
                "busyTimeMsPerSecond": round(min(1000.0, known.window["busy_ms"] / seconds)),
                "backPressuredTimeMsPerSecond": round(1000 * pressed),
                "idleTimeMsPerSecond": round(1000 * idle),
            }
            known.totals["pressed_ms"] += round(1000 * pressed * seconds)
            known.totals["idle_ms"] += round(1000 * idle * seconds)
            known.window.clear()
        self._pressed.clear()

    def _keep_stacks(self, place: tuple[int, int], new: Stacks) -> None:
        """The newest ones count: older samples fade when there are many."""
        if not new:
            return
        kept = self.stacks.setdefault(place, {})
        if sum(kept.values()) > _MOST_STACKS:
            kept = self.stacks[place] = {stack: seen // 2 for stack, seen in kept.items() if seen > 1}
        for stack, seen in new.items():
            kept[stack] = kept.get(stack, 0) + seen


def _watermarks(report: SubtaskReport, operator: int, now_ms: int) -> dict[str, float]:
    mark = report.watermarks.get(operator, MIN_TIMESTAMP)
    marks: dict[str, float] = {"currentInputWatermark": mark, "currentOutputWatermark": mark}
    if mark not in (MIN_TIMESTAMP, MAX_TIMESTAMP):
        marks["watermarkLag"] = now_ms - mark
    return marks
