"""From the moment at which a record is due to the moment at which its committed result can be read."""

from __future__ import annotations

import numpy as np

from benchmarks import settings
from benchmarks.live_run import NO_MARK, Feeder, LiveRun
from benchmarks.rows import Measurement
from benchmarks.throughput import log_tail, workplace

_DRAIN_SECONDS = 15


def run_latency(case: str, contestant: str, scale: float) -> list[Measurement]:
    with workplace(f"{case}-{contestant}") as (work, sink, log):
        run = LiveRun(case, contestant, work, sink, log)
        run.start()
        feeder = None
        try:
            if not run.warm_up():
                return [Measurement(case, contestant, "p99", None, "ms", "failed", log_tail(log))]
            feeder = Feeder(run, settings.LATENCY_RECORDS_PER_SECOND[case], _line)
            first = feeder.started + settings.LATENCY_WARM_UP_SECONDS
            last = first + max(3, settings.LATENCY_SECONDS * min(1.0, scale))
            run.wait(lambda: feeder.scheduled_ms(feeder.handed_over) > last * 1000, last - feeder.started + 60)
            feeder.stop()
            run.wait(lambda: len(run.results) > feeder.handed_over, _DRAIN_SECONDS)
        finally:
            if feeder is not None:
                feeder.stop()
            run.tree.kill()
        marks = [mark for _, _, _, mark in run.results if mark > NO_MARK]
        sent = [feeder.scheduled_ms(number) for number in range(feeder.handed_over)]
        if sorted(marks) != sent:
            note = f"{len(set(sent) - set(marks))} lost, {len(marks) - len(set(marks))} doubled"
            return [Measurement(case, contestant, "p99", None, "ms", "wrong", note)]
        delays = [time * 1000 - mark for time, _, _, mark in run.results if first * 1000 <= mark < last * 1000]
        p50, p99 = np.percentile(delays, [50, 99])
        note = f"{len(delays)} records"
        return [
            Measurement(case, contestant, "p50", float(p50), "ms", "ok", note),
            Measurement(case, contestant, "p99", float(p99), "ms", "ok", note),
        ]


def _line(number: int, scheduled_ms: int) -> str:
    return f"{number % settings.LATENCY_KEYS},{scheduled_ms}"
