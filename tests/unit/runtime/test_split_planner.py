"""Where the epochs of a source of splits begin, also those that are run again by another driver."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.engine.shelves import Shelves
from tests.patience import patience

from penstock.runtime.sources.splits import ReadReport, SourceProgress, SplitPlanner

SHELVES = Shelves("planned", {"a": [("x", 0)] * 10, "b": [("y", 0)] * 10})


def opened(directory: Path, progress: SourceProgress | None = None) -> SplitPlanner:
    planner = SplitPlanner(SHELVES)
    operator = SimpleNamespace(uid="shelves")
    subtask = SimpleNamespace(settings=SimpleNamespace(job_id="1" * 32), operator=operator)
    planner.runtime_context = SimpleNamespace(_subtask=subtask)  # type: ignore[assignment]
    if progress is not None:
        planner.recover(progress)
    planner.woken = threading.Event()  # type: ignore[attr-defined]
    planner.open(1, str(directory), planner.woken.set)  # type: ignore[attr-defined]
    return planner


def begun(planner: SplitPlanner, progress: SourceProgress | None) -> dict[str, Any]:
    """Positions from which the epoch after this progress reads, once its splits are found."""
    planner.begin(progress)
    woken: threading.Event = planner.woken  # type: ignore[attr-defined]
    while planner._watch.latest() is None:
        assert woken.wait(patience(10))
        woken.clear()
    planner.begin(progress)
    (assignment,) = planner.assignments(0, 1, 1).values()
    return {id_: split.position for id_, split in assignment.work.splits().items()}


def test_an_epoch_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    planner = opened(tmp_path)
    try:
        assert begun(planner, None) == {"a": 0, "b": 0}
        first = planner.completed([ReadReport({"a": 4, "b": 0})])
        assert begun(planner, first) == {"a": 4, "b": 0}
    finally:
        planner.close()


def test_an_epoch_with_a_record_that_runs_again_begins_at_its_beginning(tmp_path: Path) -> None:
    """Its driver died before Spark had committed it: what the record says was read, was read for nothing."""
    before = opened(tmp_path)
    assert begun(before, None) == {"a": 0, "b": 0}
    first = before.completed([ReadReport({"a": 4, "b": 2})])
    before.close()
    after = opened(tmp_path, first)
    try:
        assert begun(after, None) == {"a": 0, "b": 0}
        again = after.completed([ReadReport({"a": 5, "b": 1})])
        assert begun(after, again) == {"a": 5, "b": 1}
    finally:
        after.close()


def test_who_goes_on_after_the_record_reads_on(tmp_path: Path) -> None:
    before = opened(tmp_path)
    begun(before, None)
    first = before.completed([ReadReport({"a": 4, "b": 2})])
    before.close()
    after = opened(tmp_path, first)
    try:
        assert begun(after, first) == {"a": 4, "b": 2}
    finally:
        after.close()
