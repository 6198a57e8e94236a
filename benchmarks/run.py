"""Runs the benchmark: python -m benchmarks.run [--cases "a b"] [--scale 0.1] [--contestants "a b"] [--minutes 30]"""

from __future__ import annotations

import argparse
import datetime
import shutil
import signal
import sys
import time
from pathlib import Path

from benchmarks import nexmark, nexmark_report, report, settings
from benchmarks.big_state import run_big_state
from benchmarks.docs_section import update_page
from benchmarks.inputs import prepare
from benchmarks.kafka_case import run_kafka
from benchmarks.latency import run_latency
from benchmarks.machine import machine, versions
from benchmarks.plan import Budget, Step, make_plan
from benchmarks.rows import Measurement, summarize
from benchmarks.targets import target_table
from benchmarks.throughput import run_bounded

_WHOLE = [case for case in settings.CASES if case not in settings.APART]
_LIVE = ("big_state", "recovery", *settings.LATENCY_RECORDS_PER_SECOND, *settings.KAFKA_RESULT_EVERY)


def main() -> int:
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl-C, the contestant's processes end too
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = machine(options.scale, options.remark)
    make_inputs(options)
    plan = make_plan(options.cases, options.contestants, options.rounds)
    budget, started = Budget(options.minutes * 60), time.monotonic()
    measurements: list[Measurement] = []
    for number, step in enumerate(plan):
        begun = time.monotonic()
        left = budget.left(begun - started)
        if not budget.allows(step, begun - started):
            print(f"[{_clock(left)} left] no time for {step.title}, round {step.round}", flush=True)
            if step.round == 1:
                measurements += [Measurement(case, step.contestant, "-", None, "", "not run") for case in step.cases]
            continue
        print(f"[{_clock(left)} left] {number + 1}/{len(plan)} {step.title}, round {step.round}", flush=True)
        found = run_safely(step, options.scale)
        budget.note(step, time.monotonic() - begun)
        measurements += found
        show(found, time.monotonic() - begun)
        report.write_json(options.results, date, about, versions(), summarize(measurements))  # also when interrupted
    result = report.Result(date, about, versions(), summarize(measurements))
    if options.cases == [nexmark.CASE]:
        print(f"\n{nexmark_report.section(result)}")
    else:
        print(f"\n{report.table(result)}\n{target_table(result.rows)}")
    publish(options, result)
    print(f"in {(time.monotonic() - started) / 60:.1f} minutes")
    bad = [row for row in result.rows if row.status in ("wrong", "failed") and row.contestant.startswith("penstock")]
    return 1 if bad else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Penstock, PyFlink, Flink SQL and PySpark on the same work.")
    parser.add_argument("--cases", type=str.split, default=_WHOLE, help='such as "keyed_count latency"')
    parser.add_argument("--contestants", type=str.split, default=None)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs, 1 is the size in settings.py")
    parser.add_argument("--rounds", type=int, default=settings.ROUNDS)
    parser.add_argument("--minutes", type=float, default=settings.MINUTES, help="what would not fit is left out")
    parser.add_argument("--remark", default="", help="a sentence about this machine for the report")
    parser.add_argument("--results", type=Path, default=settings.RESULTS, help="directory for the result files")
    options = parser.parse_args()
    options.cases = options.cases or _WHOLE
    unknown = [case for case in options.cases if case not in settings.CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(settings.CASES)}")
    unknown = [name for name in options.contestants or () if name not in settings.SECONDS]
    if unknown:
        parser.error(f"no contestant {', '.join(unknown)}; there are {', '.join(settings.SECONDS)}")
    return options


def make_inputs(options: argparse.Namespace) -> None:
    """Before the clock starts: they are made once and kept."""
    begun = time.monotonic()
    for case in options.cases:
        if case not in _LIVE:
            print(f"bench: input of {case} at SCALE={options.scale:g}", flush=True)
            nexmark.prepare(options.scale) if case == nexmark.CASE else prepare(case, options.scale)
    print(f"bench: inputs are there ({time.monotonic() - begun:.0f} s); now the runs", flush=True)


def run_safely(step: Step, scale: float) -> list[Measurement]:
    """A contestant that breaks the harness costs its own row only."""
    try:
        return run_one(step, scale)
    except Exception as error:  # whatever it was: the others have a right to their turn
        note = f"{type(error).__name__}: {error}"
        return [Measurement(case, step.contestant, "-", None, "", "failed", note) for case in step.cases]


def run_one(step: Step, scale: float) -> list[Measurement]:
    case = step.cases[0]
    if case in settings.LATENCY_RECORDS_PER_SECOND:
        return run_latency(case, step.contestant, scale)
    if case == nexmark.CASE:
        return nexmark.run_nexmark(step.contestant, scale)
    if case in settings.KAFKA_RESULT_EVERY:
        return run_kafka(case, step.contestant, scale)
    if case in _LIVE:
        return run_big_state(step.cases, step.contestant, scale)
    return run_bounded(case, step.contestant, prepare(case, scale))


def show(measurements: list[Measurement], seconds: float) -> None:
    for measurement in measurements:
        value = "-" if measurement.value is None else f"{measurement.value:,.4g}"
        if measurement.value is not None and measurement.value >= 1000:
            value = f"{measurement.value:,.0f}"
        print(
            f"    {measurement.case:16} {measurement.metric:34} {value:>12} {measurement.unit:9}"
            f" {measurement.status} {measurement.note[-300:]}",
            flush=True,
        )
    print(f"    took {seconds:.0f} s", flush=True)


def publish(options: argparse.Namespace, result: report.Result) -> None:
    """Only a run of everything at its full size may stand in docs/benchmarks.md."""
    ours = options.results == settings.RESULTS
    complete = options.contestants is None and options.scale == 1
    whole = set(options.cases) == set(_WHOLE) and complete
    dated = report.write_json(options.results, result.date, result.machine, result.versions, result.rows)
    print(f"wrote {dated}")
    if options.cases == [nexmark.CASE] and complete:
        shutil.copy(dated, options.results / "nexmark.json")
        nexmark_report.publish(result, options.results, settings.ROOT / "docs" / "benchmarks.md" if ours else None)
        return
    if not whole:
        print("latest.* and docs/benchmarks.md stay as they are: this was a part, or not SCALE=1")
        return
    shutil.copy(dated, options.results / "latest.json")
    report.write_latest(options.results, result)
    if ours:
        update_page(settings.ROOT / "docs" / "benchmarks.md", result)


def _clock(seconds: float) -> str:
    return f"{max(0, int(seconds)) // 60:2d}:{max(0, int(seconds)) % 60:02d}"


if __name__ == "__main__":
    sys.exit(main())
