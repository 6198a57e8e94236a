"""Runs a bounded case with one contestant and measures its rate from outside.

Rate, for all engines alike: records behind the first commit divided by the time from the first to the last commit,
seen as result files that become visible. So start, planning and the first epoch or checkpoint are not in it; the total
wall time is given too. A contestant that commits only once (loop, DuckDB) has no warm-up to take off: records by wall
time. One that is too slow is cut off, and gets the rate at which it was going (progress.py).
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.contestants import is_flink, launch, numbers
from benchmarks.digests import result_digest
from benchmarks.inputs import CaseInput, spark_files
from benchmarks.outputs import Commit, OutputWatch, records_per_second
from benchmarks.process_tree import ProcessTree
from benchmarks.progress import FlinkCounter, Progress, SparkCommits, WrittenResults, deadline, partial_rate
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
    def without_rate(status: str, note: str) -> list[Measurement]:
        return [Measurement(case, contestant, "rate", None, "records/s", status, note)]

    with workplace(f"{case}-{contestant}") as (work, sink, log):
        watch = OutputWatch(sink, spark=contestant == "spark")
        options: dict[str, str] = {}
        progress: Progress
        if is_flink(contestant):
            port = _free_port()
            options = {"rest.port": str(port), "rest.bind-port": str(port)}
            progress = FlinkCounter(port, case, contestant)
        elif contestant == "spark":
            batches = spark_files(case) / numbers(case)["files_per_trigger"]
            progress = SparkCommits(work / "checkpoint", source.records / batches)
        else:
            progress = WrittenResults(watch, source.result_bytes / source.records)
        start = launch(contestant, case, source.path_for(contestant), sink, work, **options)
        tree = ProcessTree(start.command, start.environment, log, work)
        try:
            in_time = _watch(tree, watch, progress, source.records)
        finally:
            tree.kill()
        wall = time.time() - tree.started
        commits = watch.result_commits()
        if not in_time:
            rate = partial_rate(progress.points)
            if rate is None:
                return without_rate("no result", f"in {wall:.0f} s")
            if not source.holds(_lines(commits)):
                return without_rate("wrong", "committed results that are not in the right result")
            note = f"cut off {time.time() - progress.points[0][0]:.0f} s after its first record"
            return [
                Measurement(case, contestant, "rate", rate, "records/s", "partial", note),
                Measurement(case, contestant, "cpu", tree.cpu_seconds, "s", "partial", note),
            ]
        if tree.exit_code != 0:
            return without_rate("failed", log_tail(log))
        digest = result_digest(case, _lines(commits))
        if digest != source.digest:
            return without_rate("wrong", f"{digest.text()} instead of {source.digest.text()}")
        steady = records_per_second(commits, source.records)
        status = "ok" if steady is not None else "whole run"
        return [
            Measurement(case, contestant, "rate", steady or source.records / wall, "records/s", status),
            Measurement(case, contestant, "wall", wall, "s", "ok"),
            Measurement(case, contestant, "cpu", tree.cpu_seconds, "s", "ok"),
        ]


def _lines(commits: Iterable[Commit]) -> Iterator[str]:
    return (line for commit in commits for line in commit.path.read_text().splitlines())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _watch(tree: ProcessTree, watch: OutputWatch, progress: Progress, records: int) -> bool:
    """Until the contestant has ended; False when its time was up before."""
    looks = 0
    while True:
        ended = tree.exit_code is not None
        now = time.time()
        watch.look(now)
        progress.look(now)
        if ended:
            return True
        if looks % _LOOKS_PER_SAMPLE == 0:
            tree.sample()
        looks += 1
        if now > deadline(progress.points, tree.started, records):
            return False
        time.sleep(_LOOK_SECONDS)


def log_tail(log: Path) -> str:
    """The last lines that say something (not Java's frames), and what Flink's own log calls the first cause."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    telling = [line for line in lines if line and not line.startswith(("at ", "... "))]
    causes = (
        line.strip()
        for path in log.parent.glob("flink-*.log")
        for line in path.read_text(errors="replace").splitlines()
        if line.startswith("Caused by: ")
    )
    return " | ".join([*telling[-4:], next(causes, "")])[-600:]
