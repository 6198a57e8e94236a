"""Checkpoints in the REST interface."""

from __future__ import annotations

from penstock.control.epoch_store import Totals
from penstock.control.snapshot_history import HistoryEntry, Restored, SnapshotHistory, WrittenFacts
from penstock.rest.checkpoint_views import checkpoint_statistics
from penstock.runtime.snapshot_target import SnapshotKind


def test_checkpoints_savepoints_and_failures_in_flinks_shape() -> None:
    history = SnapshotHistory()
    history.started_from(Restored(5, "/c/chk-9", 9, 40, ("chk-10: damaged",)))
    for number in (1, 2):
        history.began(
            HistoryEntry(
                number,
                SnapshotKind.SAVEPOINT if number == 2 else SnapshotKind.CHECKPOINT,
                trigger_ms=1000 * number,
                path=f"/c/{number}",
            )
        )
        history.completed(number, 1000 * number + 30, WrittenFacts(5 * number, 100 * number, 4), Totals(70, 9))
    history.began(HistoryEntry(3, SnapshotKind.CHECKPOINT, trigger_ms=3000, path="/c/3"))
    history.failed(3, 3500, "disk full")
    history.began(HistoryEntry(4, SnapshotKind.CHECKPOINT, trigger_ms=4000, path="/c/4"))
    history.dropped([1])

    view = checkpoint_statistics(history.describe())
    assert view["counts"] == {"restored": 1, "total": 4, "in_progress": 1, "completed": 2, "failed": 1}
    assert [(entry["id"], entry["status"]) for entry in view["history"]] == [
        (4, "IN_PROGRESS"),
        (3, "FAILED"),
        (2, "COMPLETED"),
        (1, "COMPLETED"),
    ]
    latest = view["latest"]
    completed, savepoint, failed, restored = (
        latest["completed"], latest["savepoint"], latest["failed"], latest["restored"],
    )  # fmt: skip
    assert completed and savepoint and failed and restored
    assert (completed["id"], completed["checkpoint_type"], completed["discarded"]) == (1, "CHECKPOINT", True)
    assert (completed["trigger_timestamp"], completed["end_to_end_duration"]) == (1000, 30)
    assert (completed["num_subtasks"], completed["state_size"]) == (4, 100)
    assert completed["penstock"] == {"epoch": 5, "epochs-since": 5, "records-since": 70, "changed-bytes": 9}
    assert (savepoint["id"], savepoint["savepointFormat"], savepoint["external_path"]) == (2, "CANONICAL", "/c/2")
    assert savepoint["penstock"]["records-since"] == 0
    assert (failed["failure_message"], failed["failure_timestamp"]) == ("disk full", 3500)
    assert restored["external_path"] == "/c/chk-9" and not restored["is_savepoint"]
    assert view["summary"]["state_size"] | {"p999": 0} == {
        "min": 100, "max": 200, "avg": 150, "p50": 200, "p90": 200, "p95": 200, "p99": 200, "p999": 0,
    }  # fmt: skip


def test_a_job_without_any() -> None:
    view = checkpoint_statistics(SnapshotHistory().describe())
    assert view["history"] == [] and set(view["latest"].values()) == {None}
    assert view["summary"]["end_to_end_duration"]["max"] == 0
