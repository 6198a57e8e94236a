"""Runs a bounded case with one contestant and measures its rate from outside.

Rate, for all engines alike: records behind the first commit divided by the time from the first to the last commit,
seen as result files that become visible. So start, planning and the first epoch or checkpoint are not in it; the total
wall time is given too. A contestant that commits only once (loop, DuckDB) has no warm-up to take off: records by wall
time.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import settings
from benchmarks.contestants import launch
from benchmarks.digests import result_digest
from benchmarks.inputs import CaseInput
from benchmarks.outputs import OutputWatch, partial_rate, records_per_second
from benchmarks.process_tree import ProcessTree
from benchmarks.rows import Measurement

_LOOK_SECONDS = 0.05
_LOOKS_PER_SAMPLE = 6


@contextmanager
def workplace(name: str) -> Iterator[tuple[Path, Path, Path]]:
    """A directory for a run's files: itself, the place for results, and the log."""
    work = Path(tempfile.mkdtemp(prefix=f"bench-{name}-"))
    sink = work / "results"
    sink.mkdir()
    try:
        yield work, sink, work / "log"
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run_bounded(case: str, contestant: str, source: CaseInput) -> list[Measurement]:
    with workplace(f"{case}-{contestant}") as (work, sink, log):
        start = launch(contestant, case, source.path_for(contestant), sink, work)
        watch = OutputWatch(sink, spark=contestant == "spark")
        tree = ProcessTree(start.command, start.environment, log, work)
        try:
            in_time = _watch(tree, watch, source.result_bytes)
        finally:
            tree.kill()
        wall = time.time() - tree.started
        if not in_time:
            return _partial(case, contestant, watch, source, tree)
        if tree.exit_code != 0:
            return [Measurement(case, contestant, "rate", None, "records/s", "failed", log_tail(log))]
        lines = (line for commit in watch.result_commits() for line in commit.path.read_text().splitlines())
        digest = result_digest(case, lines)
        if digest != source.digest:
            note = f"{digest.text()} instead of {source.digest.text()}"
            return [Measurement(case, contestant, "rate", None, "records/s", "wrong", note)]
        rate = records_per_second(watch.result_commits(), source.records)
        status = "ok" if rate is not None else "whole run"
        return [
            Measurement(case, contestant, "rate", rate or source.records / wall, "records/s", status),
            Measurement(case, contestant, "wall", wall, "s", "ok"),
            Measurement(case, contestant, "cpu", tree.cpu_seconds, "s", "ok"),
        ]


def _watch(tree: ProcessTree, watch: OutputWatch, result_bytes: int) -> bool:
    """Until the contestant has ended; False when its time was up before. Who will be done soon may finish."""
    looks = 0
    while True:
        ended = tree.exit_code is not None
        now = time.time()
        watch.look(now)
        if ended:
            return True
        if looks % _LOOKS_PER_SAMPLE == 0:
            tree.sample()
        looks += 1
        if not watch.written:
            limit = tree.started + settings.START_SECONDS
        elif watch.written[-1][1] < settings.NEARLY_DONE * result_bytes:
            limit = watch.written[0][0] + settings.RUN_SECONDS
        else:
            limit = watch.written[0][0] + settings.FINISH_SECONDS
        if now > limit:
            return False
        time.sleep(_LOOK_SECONDS)


def _partial(case: str, contestant: str, watch: OutputWatch, source: CaseInput, tree: ProcessTree) -> list[Measurement]:
    bytes_per_record = source.result_bytes / source.records
    end = time.time()
    rate = partial_rate(watch.written, end, bytes_per_record)
    note = f"cut off {end - watch.written[0][0]:.0f} s after its first result" if watch.written else ""
    if rate is None:
        return [Measurement(case, contestant, "rate", None, "records/s", "no result", f"in {settings.START_SECONDS} s")]
    return [
        Measurement(case, contestant, "rate", rate, "records/s", "partial", note),
        Measurement(case, contestant, "cpu", tree.cpu_seconds, "s", "partial", note),
    ]


def log_tail(log: Path) -> str:
    """The last lines that say something: not Java's frames."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    telling = [line for line in lines if line and not line.startswith(("at ", "... "))]
    return " | ".join(telling[-4:])[-600:]
