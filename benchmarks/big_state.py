"""Much keyed state, then few updates: what a commit costs when little has changed, and what a crash costs."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks import settings
from benchmarks.live_run import NO_MARK, Feeder, LiveRun, Result
from benchmarks.rows import Measurement
from benchmarks.throughput import log_tail, workplace

_LOAD_SECONDS = 100
_UPDATE_SECONDS = 40
_RECOVERY_SECONDS = 60
_SETTLE_SECONDS = 1.5
_FEED_SECONDS = 3


def run_big_state(cases: Sequence[str], contestant: str, scale: float) -> list[Measurement]:
    """One job for both cases: first state is filled and updated, then the job is killed while records come in."""
    keys = int(settings.CASES["big_state"].keys * scale)
    phases = [keys, *(max(1, int(updates * scale)) for updates in settings.STATE_UPDATES)]
    with workplace(f"{'-'.join(cases)}-{contestant}") as (work, sink, log):
        run = LiveRun("big_state", contestant, work, sink, log)
        run.start(**_options(contestant))
        try:
            found, problem = _fill(run, contestant, phases)
            if problem is None and not _is_right(run.results, phases):
                found, problem = [], ("wrong", "versions of keys are not 1, 2, ...")
            if problem is not None:
                note = f"{problem[1]} {log_tail(log) if run.tree.exit_code else ''}".rstrip()
                return found + [Measurement(case, contestant, "-", None, "", problem[0], note) for case in cases]
            found = found if "big_state" in cases else []
            return found + (_recover(run, contestant, work, keys) if "recovery" in cases else [])
        finally:
            run.tree.kill()


def _fill(run: LiveRun, contestant: str, phases: list[int]) -> tuple[list[Measurement], tuple[str, str] | None]:
    """What was measured, and what went wrong: a status and a sentence."""
    found: list[Measurement] = []

    def add(metric: str, value: float, unit: str) -> None:
        found.append(Measurement("big_state", contestant, metric, value, unit, "ok"))

    if not run.warm_up():
        return found, ("failed", "no first result.")
    _settle(run)
    memory, expected = run.tree.memory, len(run.results)
    for number, count in enumerate(phases):
        expected += count
        written, checkpoints, started = run.state.written, run.state.checkpoints, time.time()
        run.hand_over(f"{key},{_mark(number)}" for key in range(count))
        limit = _UPDATE_SECONDS if number else _LOAD_SECONDS
        if not run.wait(lambda: len(run.results) >= expected, limit):  # noqa: B023 - called at once
            got = len(run.results) - expected + count
            return found, ("no result", f"{got:,} of {count:,} {_what(number)} in {time.time() - started:.0f} s.")
        name = f"{count:,} {_what(number)}"
        add(f"{name}: until committed", run.results[-1][0] - started, "s")
        _settle(run)
        made = max(1, run.state.checkpoints - checkpoints)
        add(f"{name}: written per checkpoint", (run.state.written - written) / made / 1e6, "MB")
        if number == 0:
            add("state on disk per key", run.state.on_disk / count, "bytes")
            add("memory", run.tree.memory / 1e6, "MB")
            add("memory per key", (run.tree.memory - memory) / count, "bytes")
    return found, None


def _what(phase: int) -> str:
    return "updates" if phase else "new keys"


def _mark(phase: int) -> int:
    return NO_MARK - 1 - phase


def _settle(run: LiveRun) -> None:
    _pause(run, _SETTLE_SECONDS)
    run.tree.sample()
    run.state.look()


def _is_right(results: list[Result], phases: list[int]) -> bool:
    wanted = {(key, number + 1, _mark(number)) for number, count in enumerate(phases) for key in range(count)}
    found = [(key, version, mark) for _, key, version, mark in results if key >= 0]
    return len(found) == len(wanted) and set(found) == wanted


def _recover(run: LiveRun, contestant: str, work: Path, keys: int) -> list[Measurement]:
    found: list[Measurement] = []
    before = len(run.results)
    feeder = Feeder(run, settings.RECOVERY_RECORDS_PER_SECOND, lambda number, _: f"{number % keys},{number}")
    try:
        _pause(run, _FEED_SECONDS)
        # PyFlink's thread mode has no process of a worker that could be killed alone.
        worker = run.tree.largest_fork(".daemon pyspark.worker")
        if worker is not None:
            os.kill(worker, signal.SIGKILL)
            found.append(_first_new_commit(contestant, "worker killed", run, feeder, time.time()))
            _pause(run, _FEED_SECONDS)
        killed = time.time()
        run.tree.kill()
        run.start(**_options(contestant), **_restore(contestant, work))
        found.append(_first_new_commit(contestant, "driver killed", run, feeder, killed))
        _pause(run, _FEED_SECONDS)
    finally:
        feeder.stop()
    run.wait(lambda: len(run.results) >= before + feeder.handed_over, _UPDATE_SECONDS)
    _pause(run, _SETTLE_SECONDS)  # what comes twice may come late
    lost, doubled = lost_and_doubled(run.results, feeder.handed_over)
    status = "ok" if lost == doubled == 0 else "wrong"
    found.append(Measurement("recovery", contestant, "lost", lost, "records", status))
    found.append(Measurement("recovery", contestant, "doubled", doubled, "records", status))
    return found


def lost_and_doubled(results: list[Result], sent: int) -> tuple[int, int]:
    """By marks, and by the state: a key's versions have to be 1, 2, ... without a hole or a repetition."""
    marks = Counter(mark for _, _, _, mark in results if mark > NO_MARK)
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


def _first_new_commit(contestant: str, metric: str, run: LiveRun, feeder: Feeder, killed: float) -> Measurement:
    """Until there is a result of a record that was handed over after the blow."""
    mark, seen = feeder.handed_over, len(run.results)

    def new() -> float | None:
        return next((moment for moment, _, _, found in run.results[seen:] if found >= mark), None)

    run.wait(lambda: new() is not None, _RECOVERY_SECONDS)
    moment = new()
    if moment is None:
        ended = run.tree.exit_code
        note = f"in {_RECOVERY_SECONDS} s" if ended is None else f"the job ended with exit code {ended}"
        return Measurement("recovery", contestant, metric, None, "s", "no result", note)
    return Measurement("recovery", contestant, metric, moment - killed, "s", "ok", "to the first new commit")


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
