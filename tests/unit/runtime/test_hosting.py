"""Containers in a worker: whatever becomes of one, its functions are closed as often as they were opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.blueprints import chained, edge, job, operator

from penstock.connectors.collecting import CollectSink
from penstock.engines.local.memory_store import MemoryStore
from penstock.metrics.values import CounterValue
from penstock.runtime import hosting
from penstock.runtime.batch import Batch
from penstock.runtime.hosting import run_level, run_level_zero
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.partitioning import Rebalance
from penstock.runtime.report import SubtaskReport, read_report
from penstock.runtime.sources.base import Assignment, WorkReader
from penstock.runtime.state_log import StateLog


class Reader(WorkReader):
    def read(self, work: Any) -> Any:
        yield from work


class Counting:
    """Writes down when it is opened and closed, and counts what it has seen."""

    def __init__(self, calls: Path) -> None:
        self.calls = calls

    def open(self, context: Any) -> None:
        self._note("open")
        self.seen = context.get_metrics_group().counter("seen")

    def close(self) -> None:
        self._note("close")

    def _note(self, call: str) -> None:
        with self.calls.open("a") as file:
            file.write(f"{call}\n")

    def map(self, value: Any) -> Any:
        self.seen.inc()
        if value == "fail":
            raise ValueError(value)
        return value


@pytest.fixture(autouse=True)
def no_containers_left() -> Iterator[None]:
    yield
    hosting.forget_containers()


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls"


@pytest.fixture
def blob(calls: Path) -> LevelBlob:
    plan = job(
        [
            operator(1, "source", Reader()),
            operator(2, "map", Counting(calls)),
            operator(3, "sink", CollectSink(), sink=True),
        ],
        [chained(0, 1, 2), chained(1, 2, 3)],
    )
    return LevelBlob.of(plan, 0, "run")


def epoch(blob: LevelBlob, *values: Any, snapshot: Any = None, final: bool = False) -> SubtaskReport:
    rows = list(run_level_zero(blob, 0, {1: Assignment([Batch(list(values))], final)}, snapshot))
    return read_report(rows[-1].payload)


def balance(calls: Path) -> tuple[int, int]:
    """How often functions were opened, and closed."""
    counts = Counter(calls.read_text().split())
    return counts["open"], counts["close"]


def test_a_container_stays_open_between_epochs_and_is_closed_at_the_end(blob: LevelBlob, calls: Path) -> None:
    report = epoch(blob, 1)
    assert balance(calls) == (1, 0)
    epoch(blob, 2, snapshot=report.delta, final=True)
    assert balance(calls) == (1, 1)


def test_a_failed_epoch_closes(blob: LevelBlob, calls: Path) -> None:
    report = epoch(blob, "fail")
    assert report.failure is not None and report.failure.exception == "ValueError"
    assert balance(calls) == (1, 1)


def test_a_stale_container_is_closed(blob: LevelBlob, calls: Path) -> None:
    first = epoch(blob, 1)
    epoch(blob, 2, snapshot=first.delta)
    epoch(blob, 2, snapshot=first.delta)  # the epoch runs again, and the container is one epoch too far
    assert balance(calls) == (2, 1)


def test_evicted_and_forgotten_containers_are_closed(
    blob: LevelBlob, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "_CACHED_CONTAINERS", 1)
    epoch(blob, 1)
    other = LevelBlob(blob.settings, 0, "another run", blob.pickled)
    epoch(other, 1)
    assert balance(calls) == (2, 1)
    hosting.forget_containers()
    assert balance(calls) == (2, 2)


def test_an_epoch_that_nobody_reads_to_its_end_closes(calls: Path) -> None:
    operators = [
        operator(1, "source", Reader()),
        operator(2, "map", Counting(calls)),
        operator(3, "sink", CollectSink(), level=1),
    ]
    plan = job(operators, [chained(0, 1, 2), edge(Rebalance(), id=1, source=2, target=3)])
    steps = run_level_zero(LevelBlob.of(plan, 0, "run"), 0, {1: Assignment([Batch(list(range(100)))])}, None)
    assert next(steps).channel >= 0  # a full chunk leaves before the epoch ends
    assert balance(calls) == (1, 0)
    steps.close()
    assert balance(calls) == (1, 1)


def test_metrics_survive_that_a_subtask_moves_to_another_worker(blob: LevelBlob) -> None:
    first = epoch(blob, 1, 2, 3)
    hosting.forget_containers()
    second = epoch(blob, 4, snapshot=first.delta)
    assert second.metrics["uid-2"] == {"seen": CounterValue(4)}


def test_a_level_after_an_exchange_is_closed_when_its_worker_forgets_it(calls: Path) -> None:
    plan = job([operator(2, "map", Counting(calls), level=1)], [])
    log = StateLog(MemoryStore())
    blob = LevelBlob.of(plan, 1, "run")
    list(run_level(blob, 0, [], log))
    assert balance(calls) == (1, 0)
    hosting.forget_containers()
    list(run_level(blob, 0, [], log))
    assert balance(calls) == (2, 1)
