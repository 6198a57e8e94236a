"""Runs the benchmark: python -m benchmarks.run [--cases "a b"] [--scale 0.1] [--contestants "a b"] [--rounds 1]"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import report, settings
from benchmarks.big_state import run_big_state, run_recovery
from benchmarks.inputs import prepare
from benchmarks.latency import run_latency
from benchmarks.rows import Measurement, Row, summarize
from benchmarks.throughput import run_bounded

_LIVE = {"big_state": run_big_state, "recovery": run_recovery, "latency": run_latency}


def main() -> int:
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl-C, the contestant's processes end too
    started = time.monotonic()
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    measurements: list[Measurement] = []
    seconds: dict[str, float] = {}
    for number in range(options.rounds):
        for case in options.cases:
            begun = time.monotonic()
            if number and (begun - started + seconds[case]) / 60 > options.minutes:
                print(f"{case:16} no time for round {number + 1}", flush=True)
                continue
            measurements += run_case(case, options, backwards=number % 2 == 1)
            seconds[case] = time.monotonic() - begun
            save(options, date, measurements)  # a run that is interrupted leaves what it has
    rows = summarize(measurements)
    for path in save(options, date, measurements):
        print(f"wrote {path.relative_to(settings.ROOT)}")
    print(f"\n{report.table(rows, date, machine(options))}\nin {(time.monotonic() - started) / 60:.1f} minutes")
    return 1 if any(row.status in ("wrong", "failed") and row.contestant.startswith("penstock") for row in rows) else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Penstock, PyFlink, Flink SQL and PySpark on the same work.")
    parser.add_argument("--cases", type=str.split, default=list(settings.CASES), help='such as "keyed_count latency"')
    parser.add_argument("--contestants", type=str.split, default=None)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs, 1 is the size in settings.py")
    parser.add_argument("--rounds", type=int, default=settings.ROUNDS)
    parser.add_argument("--minutes", type=float, default=settings.MINUTES, help="second rounds only within this time")
    parser.add_argument("--remark", default="", help="a sentence about this machine for the report")
    options = parser.parse_args()
    options.cases = options.cases or list(settings.CASES)
    unknown = [case for case in options.cases if case not in settings.CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(settings.CASES)}")
    return options


def run_case(case: str, options: argparse.Namespace, backwards: bool) -> list[Measurement]:
    definition = settings.CASES[case]
    contestants = [name for name in definition.contestants if name in (options.contestants or definition.contestants)]
    found: list[Measurement] = []
    for contestant in reversed(contestants) if backwards else contestants:
        started = time.monotonic()
        measurements = run_one(case, contestant, options.scale)
        found += measurements
        show(case, contestant, measurements, time.monotonic() - started)
    return found


def run_one(case: str, contestant: str, scale: float) -> list[Measurement]:
    if case in _LIVE:
        return _LIVE[case](case, contestant, scale)
    return run_bounded(case, contestant, prepare(case, scale))


def show(case: str, contestant: str, measurements: list[Measurement], seconds: float) -> None:
    for measurement in measurements:
        value = "-" if measurement.value is None else f"{measurement.value:,.4g}"
        if measurement.value is not None and measurement.value >= 1000:
            value = f"{measurement.value:,.0f}"
        print(
            f"{case:16} {contestant:24} {measurement.metric:24} {value:>12} {measurement.unit:9}"
            f" {measurement.status} {measurement.note[:300]}",
            flush=True,
        )
    print(f"{'':16} {'':24} took {seconds:.0f} s", flush=True)


def save(options: argparse.Namespace, date: str, measurements: list[Measurement]) -> list[Path]:
    rows: list[Row] = summarize(measurements)
    return report.write(settings.RESULTS, date, machine(options), versions(), rows)


def machine(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.platform(),
        "scale": options.scale,
        "load_at_start": round(os.getloadavg()[2], 2),
        "remark": options.remark,
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def versions() -> dict[str, str]:
    flink = settings.FLINK_REQUIREMENT.partition("==")[2]
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr if _has_java() else ""
    return {
        "penstock": metadata.version("penstock"),
        "commit": _commit(),
        "pyspark": metadata.version("pyspark"),
        "apache-flink": flink,
        "duckdb": settings.DUCKDB_REQUIREMENT.partition("==")[2],
        "python": platform.python_version(),
        "java": java.splitlines()[0] if java else "of the environment",
    }


def _has_java() -> bool:
    return any(Path(place, "java").exists() for place in os.environ["PATH"].split(os.pathsep))


def _commit() -> str:
    answer = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=settings.ROOT, capture_output=True, text=True)
    return answer.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
