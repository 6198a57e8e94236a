"""What metrics cost: CPU time of a case with everything on, and with nothing measured at all, in turn.

python -m benchmarks.metrics_cost [CASE ...] [--rounds 25] [--scale 0.1]

Nobody can turn the counting of records, bytes, busy time and hot keys off; here it is taken out of the code, so that
there is something to compare with. On: all of that, stacks sampled every 50 ms, a latency marker every second, and, on
the driver, a description of the job for a manager and a report to Prometheus, once a second each. Containers run as in
case_costs, in one process; user CPU time, alternating, and the ratio of each pair. Many short rounds say more than few
long ones: what else the machine does slows some of them down, and their median does not mind.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from prometheus_client import CollectorRegistry, generate_latest

from benchmarks.case_costs import program_of, run
from benchmarks.inputs import CaseInput, prepare
from penstock.common.json_data import to_json
from penstock.control.metric_reporting import samples_of
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.metrics.reporters.prometheus import _Newest
from penstock.runtime.blueprint import JobSettings
from penstock.runtime.container_vitals import ContainerVitals
from penstock.runtime.station import Station
from penstock.runtime.time_sheet import TimeSheet

CASES = ("keyed_count", "keyed_count_builtin")
ALL_ON = JobSettings("0" * 32, "costs", stack_sample_ms=50, latency_interval_ms=1000)
_DRIVER_ROUNDS = 50


@contextlib.contextmanager
def nothing_measured() -> Iterator[None]:
    made = Station.__init__

    def without_hot_keys(self: Station, *arguments: Any, **named: Any) -> None:
        made(self, *arguments, **named)
        self.hot_keys = None

    with (
        mock.patch.object(Station, "__init__", without_hot_keys),
        mock.patch.object(TimeSheet, "switch", lambda self, to: None),
        mock.patch.object(ContainerVitals, "put_into", lambda self, report: None),
        mock.patch.object(ContainerVitals, "measure_state", lambda self, report: None),
        mock.patch.object(ContainerVitals, "received", lambda self, operator, payload: None),
    ):
        yield


def seconds(case: str, data: CaseInput, on: bool) -> float:
    """User CPU time of one run of all subtasks."""
    sink = tempfile.mkdtemp(prefix="penstock-metrics-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        contestant = "penstock_builtin" if case.endswith("_builtin") else "penstock"
        request = program_of(case, Path(data.path_for(contestant)), sink)
        gc.collect()
        with contextlib.nullcontext() if on else nothing_measured():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            run(request, ALL_ON if on else None)
            return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    finally:
        shutil.rmtree(sink)


def driver_share() -> float:
    """Of one core: a description as JSON and a report, once a second each, of a job with two levels."""
    executor = LocalExecutor()
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    env.from_collection([(number % 100, 1) for number in range(10_000)]).key_by(lambda pair: pair[0]).reduce(
        lambda one, other: (one[0], one[1] + other[1])
    ).filter(lambda pair: False).print()
    env.execute("described")
    describe = executor._job.describe
    newest, registry = _Newest(), CollectorRegistry()
    registry.register(newest)
    before = time.process_time()
    for _ in range(_DRIVER_ROUNDS):
        json.dumps(to_json(describe()))
        newest.samples = samples_of(describe())
        generate_latest(registry)
    return (time.process_time() - before) / _DRIVER_ROUNDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--scale", type=float, default=0.1)
    arguments = parser.parse_args()
    gc.set_threshold(100_000, 50, 100)  # as in workers
    share = driver_share()
    print(f"driver: {share:.2%} of one core, once a second", flush=True)
    for case in arguments.cases:
        data = prepare(case.removesuffix("_builtin"), arguments.scale)
        pairs = []
        for number in range(arguments.rounds):
            order = (True, False) if number % 2 else (False, True)
            took = {on: seconds(case, data, on) for on in order}
            pairs.append((took[False], took[True]))
        ratios = sorted(on / off - 1 for off, on in pairs)
        off, on = (statistics.median(each) for each in zip(*pairs, strict=True))
        lower, _, upper = statistics.quantiles(ratios, n=4)
        print(
            f"{case}: {off:.3f} s without, {on:.3f} s with everything on: {on / off - 1:+.1%} by the medians, "
            f"{statistics.median(ratios):+.1%} by the median of pairs (half of them {lower:+.1%} to {upper:+.1%})",
            flush=True,
        )


if __name__ == "__main__":
    main()
