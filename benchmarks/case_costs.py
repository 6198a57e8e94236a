"""What the cases of the benchmark cost per record without Spark: CPU time by level, one process, results checked.

python -m benchmarks.case_costs [CASE ...] [--rounds 3] [--profile]

Cases are those of programs/datastream.py with their inputs at SCALE=1. All subtasks run in this process one after the
other, so that the CPU time is that of all cores together. To compare two versions, run it with both in turn.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import os
import pickle
import pstats
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle

from benchmarks import settings
from benchmarks.digests import result_digest
from benchmarks.inputs import CaseInput, prepare
from penstock.cli import pyflink_alias
from penstock.graph.job_request import JobRequest
from penstock.graph.stream_graph import upstream_first
from penstock.plan.translation import translate
from penstock.runtime.blueprint import JobSettings
from penstock.runtime.container import Container
from penstock.runtime.exchange import ExchangeRow, edge_of_channel
from penstock.testing.epochs import whole_epoch

EPOCH_RECORDS = 400_000
CASES = (
    "udf_map",
    "keyed_count",
    "keyed_count_builtin",
    "tumble",
    "tumble_builtin",
    "slide",
    "slide_builtin",
    "session",
    "session_builtin",
    "three_hops",
)


class Captured(BaseException):
    """Carries the program out of execute()."""

    def __init__(self, request: JobRequest) -> None:
        self.request = request


class CapturingExecutor:
    def submit(self, request: JobRequest) -> Any:
        raise Captured(request)


def program_of(case: str, source: Path, sink: str) -> JobRequest:
    pyflink_alias.install()
    from benchmarks.programs import datastream
    from penstock.datastream import StreamExecutionEnvironment

    numbers = {
        "parallelism": settings.PARALLELISM,
        "disorder_ms": settings.DISORDER_MS,
        "gap_ms": settings.SESSION_GAP_MS,
        "hop_groups": settings.HOP_GROUPS,
        "hop_regions": settings.HOP_REGIONS,
        "discovery_ms": settings.DISCOVERY_MS,
    }
    os.environ["BENCH_SETTINGS"], os.environ["BENCH_CONFIGURATION"] = json.dumps(numbers), "{}"

    class Environment(StreamExecutionEnvironment):
        @staticmethod
        def get_execution_environment(configuration: Any = None) -> StreamExecutionEnvironment:
            return StreamExecutionEnvironment(executor=CapturingExecutor())

    datastream.StreamExecutionEnvironment = Environment  # type: ignore[attr-defined]
    try:
        datastream.main(case, str(source), sink)
    except Captured as captured:
        return captured.request
    raise AssertionError("the program did not execute()")


def run(request: JobRequest, job_settings: JobSettings | None = None) -> list[float]:
    """CPU seconds by level."""
    job = translate(request, job_settings or JobSettings("0" * 32, "costs"))
    [(source_id, source)] = [(n.id, n.params["source"]) for n in upstream_first(request.sinks) if "source" in n.params]
    program = cloudpickle.dumps(job)  # every container has its own copy of the user's objects, as in a worker
    containers = [
        [Container(pickle.loads(program), level, subtask) for subtask in range(job.parallelism)]
        for level in range(job.levels)
    ]
    for container in [container for level in containers for container in level]:
        container.open()
    level_of_operator = {operator.id: operator.level for operator in job.operators}
    level_of_edge = {edge.id: level_of_operator[edge.target] for edge in job.edges}

    def level_of(row: ExchangeRow) -> int:
        return level_of_edge[edge_of_channel(row.channel)]

    cpu = [0.0] * job.levels
    position = source.initial_position(job.parallelism)
    while not source.exhausted(position):
        start, position = position, source.advance(position, EPOCH_RECORDS)
        work = source.assignments(start, position, job.parallelism)
        waiting: list[ExchangeRow] = []
        for number, level in enumerate(containers):
            begun = time.process_time()
            for subtask, container in enumerate(level):
                own = [
                    r for r in waiting if r.subtask == subtask and level_of_edge[edge_of_channel(r.channel)] == number
                ]
                assigned = {source_id: work[subtask]} if number == 0 and subtask in work else None
                rows, report = whole_epoch(container, own, assigned)
                assert report.failure is None, report.failure
                waiting += rows
                container.snapshot()
                container.measure_state(report)
            cpu[number] += time.process_time() - begun
    for container in [container for level in containers for container in level]:
        container.close()
    return cpu


def measure(case: str, rounds: int, profile: bool) -> None:
    data: CaseInput = prepare(case.removesuffix("_builtin"), 1)
    best: list[float] | None = None
    for _ in range(rounds):
        sink = tempfile.mkdtemp(prefix="penstock-costs-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        try:
            contestant = "penstock_builtin" if case.endswith("_builtin") else "penstock"
            request = program_of(case, data.path_for(contestant), sink)
            profiler = cProfile.Profile()
            if profile:
                profiler.enable()
            cpu = run(request)
            profiler.disable()
            if profile:
                pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
            assert result_digest(case.removesuffix("_builtin"), _lines(Path(sink))) == data.digest, f"{case}: wrong"
        finally:
            shutil.rmtree(sink)
        best = cpu if best is None or sum(cpu) < sum(best) else best
    assert best is not None
    each = [seconds * 1e9 / data.records for seconds in best]
    print(
        f"{case:20} {sum(each):6.0f} ns/record = {' + '.join(f'{ns:.0f}' for ns in each)} by level"
        f" -> {settings.PARALLELISM * 1e9 / sum(each):11,.0f} records/s on {settings.PARALLELISM} cores",
        flush=True,
    )


def _lines(directory: Path) -> Iterator[str]:
    for path in directory.iterdir():  # the hidden names of uncommitted files too
        yield from path.read_text().split("\n")[:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    gc.set_threshold(100_000, 50, 100)  # as in workers
    for case in arguments.cases:
        measure(case, arguments.rounds, arguments.profile)


if __name__ == "__main__":
    main()
