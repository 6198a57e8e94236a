"""Much keyed state, then few updates: what a commit costs when little has changed, and what a crash costs."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

from benchmarks import settings
from benchmarks.live_run import NO_MARK, Feeder, LiveRun, Result
from benchmarks.rows import Measurement
from benchmarks.throughput import log_tail, workplace

_LOAD_SECONDS = 90
_UPDATE_SECONDS = 40
_RECOVERY_SECONDS = 60
_SETTLE_SECONDS = 2
_FEED_SECONDS = 4


def run_big_state(case: str, contestant: str, scale: float) -> list[Measurement]:
    keys = int(settings.CASES[case].keys * scale)
    phases = [keys, *(max(1, int(updates * scale)) for updates in settings.STATE_UPDATES)]
    found: list[Measurement] = []

    def add(metric: str, value: float, unit: str) -> None:
        found.append(Measurement(case, contestant, metric, value, unit, "ok"))

    with workplace(f"{case}-{contestant}") as (work, sink, log):
        run = LiveRun(case, contestant, work, sink, log)
        run.start()
        try:
            if not run.warm_up():
                return [Measurement(case, contestant, "load", None, "s", "failed", log_tail(log))]
            _settle(run)
            memory, expected = run.tree.peak_memory, 1
            for number, count in enumerate(phases):
                expected += count
                written, started = run.state.written, time.time()
                run.hand_over(f"{key},{number}" for key in range(count))
                limit = _LOAD_SECONDS if number == 0 else _UPDATE_SECONDS
                if not run.wait(lambda: len(run.results) >= expected, limit):  # noqa: B023 - called at once
                    got = len(run.results) - expected + count
                    note = f"{got:,} of {count:,} in {limit} s; {log_tail(log) if run.tree.exit_code else ''}"
                    found.append(Measurement(case, contestant, f"{count:,} keys", None, "s", "no result", note))
                    return found
                add(f"{_name(number, count)}: until committed", run.results[-1][0] - started, "s")
                _settle(run)
                add(f"{_name(number, count)}: state written", (run.state.written - written) / 1e6, "MB")
                if number == 0:
                    add("state written per key", (run.state.written - written) / keys, "bytes")
                    add("memory per key", (run.tree.peak_memory - memory) / keys, "bytes")
        finally:
            run.tree.kill()
        if not _is_right(run.results, phases):
            return [Measurement(case, contestant, "load", None, "s", "wrong", "versions of keys are not 1, 2, ...")]
    return found


def _name(number: int, count: int) -> str:
    return f"{count:,} new keys" if number == 0 else f"{count:,} updates"


def _settle(run: LiveRun) -> None:
    end = time.time() + _SETTLE_SECONDS
    run.wait(lambda: time.time() > end, _SETTLE_SECONDS + 1)
    run.tree.sample()
    run.state.look()


def _is_right(results: list[Result], phases: list[int]) -> bool:
    wanted = {(key, number + 1, number) for number, count in enumerate(phases) for key in range(count)}
    found = [(key, version, mark) for _, key, version, mark in results if key >= 0]
    return len(found) == len(wanted) and set(found) == wanted


def run_recovery(case: str, contestant: str, scale: float) -> list[Measurement]:
    keys = int(settings.CASES[case].keys * scale)
    found: list[Measurement] = []
    with workplace(f"{case}-{contestant}") as (work, sink, log):
        run = LiveRun(case, contestant, work, sink, log)
        run.start(**_options(contestant))
        feeder = None
        try:
            run.hand_over(f"{key},{NO_MARK}" for key in range(keys))
            if not run.wait(lambda: len(run.results) >= keys, _LOAD_SECONDS):
                return [Measurement(case, contestant, "driver killed", None, "s", "failed", log_tail(log))]
            feeder = Feeder(run, settings.RECOVERY_RECORDS_PER_SECOND, lambda number, _: f"{number % keys},{number}")
            _pause(run, _FEED_SECONDS)
            workers = run.tree.pids_of("penstock.spark.daemon") if contestant == "penstock" else []
            if workers:
                os.kill(workers[0], signal.SIGKILL)
                found.append(_first_new_commit(case, contestant, "worker killed", run, feeder))
                _pause(run, _FEED_SECONDS)
            run.tree.kill()
            killed = time.time()
            run.start(**_options(contestant), **_restore(contestant, work))
            found.append(_first_new_commit(case, contestant, "driver killed", run, feeder, killed))
            _pause(run, _FEED_SECONDS)
            feeder.stop()
            run.wait(lambda: len(run.results) >= keys + feeder.handed_over, _UPDATE_SECONDS)
        finally:
            if feeder is not None:
                feeder.stop()
            run.tree.kill()
        lost, doubled = lost_and_doubled(run.results, feeder.handed_over)
        found.append(Measurement(case, contestant, "lost", lost, "records", "ok"))
        found.append(Measurement(case, contestant, "doubled", doubled, "records", "ok"))
    return found


def lost_and_doubled(results: list[Result], sent: int) -> tuple[int, int]:
    """By marks, and by the state: a key's versions have to be 1, 2, ... without a hole or a repetition."""
    marks = Counter(mark for _, _, _, mark in results if mark != NO_MARK)
    versions = Counter((key, version) for _, key, version, _ in results)
    greatest: dict[int, int] = {}
    for key, version in versions:
        greatest[key] = max(greatest.get(key, 0), version)
    lost = max(sent - len(marks), sum(greatest.values()) - len(versions))
    doubled = max(sum(marks.values()) - len(marks), sum(versions.values()) - len(versions))
    return lost, doubled


def _pause(run: LiveRun, seconds: float) -> None:
    end = time.time() + seconds
    run.wait(lambda: time.time() > end, seconds + 1)


def _first_new_commit(
    case: str, contestant: str, metric: str, run: LiveRun, feeder: Feeder, killed: float | None = None
) -> Measurement:
    """Until there is a result of a record that was handed over after the blow."""
    killed, mark, seen = killed or time.time(), feeder.handed_over, len(run.results)

    def new() -> float | None:
        return next((moment for moment, _, _, found in run.results[seen:] if found >= mark), None)

    run.wait(lambda: new() is not None, _RECOVERY_SECONDS)
    moment = new()
    if moment is None:
        return Measurement(case, contestant, metric, None, "s", "no result", f"in {_RECOVERY_SECONDS} s")
    return Measurement(case, contestant, metric, moment - killed, "s", "ok", "to the first new commit")


def _options(contestant: str) -> dict[str, str]:
    if contestant.startswith("penstock"):
        return {}
    return {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}


def _restore(contestant: str, work: Path) -> dict[str, str]:
    """Flink has to be told its last complete checkpoint; Penstock finds its last epoch by the job's id."""
    if contestant.startswith("penstock"):
        return {}
    complete = sorted(work.glob("checkpoints/*/chk-*/_metadata"), key=lambda path: path.stat().st_mtime)
    return {"execution.state-recovery.path": complete[-1].parent.as_uri()}
