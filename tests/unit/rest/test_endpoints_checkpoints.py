"""Checkpoints in the REST interface."""

from __future__ import annotations

from penstock.rest.job_views import checkpoint_statistics


def test_the_history_has_checkpoints_and_savepoints_with_failures_told_apart() -> None:
    done = {"id": 3, "epoch": 17, "bytes": 10, "duration_ms": 5, "path": "/c/chk-3", "failure": None}
    failed = {"id": 4, "status": "FAILED", "failure": "disk full"}
    saved = {"epoch": 9, "bytes": 11, "duration_ms": 6, "path": "/s/savepoint-1"}
    statistics = checkpoint_statistics({"savepoints": [saved], "checkpoints": [done, failed]})
    assert statistics["counts"] == {"restored": 0, "total": 3, "in_progress": 0, "completed": 2, "failed": 1}
    assert statistics["latest"]["completed"]["external_path"] == "/c/chk-3"
    assert statistics["latest"]["failed"]["failure_message"] == "disk full"
    assert [entry["checkpoint_type"] for entry in statistics["history"]] == ["CHECKPOINT", "CHECKPOINT", "SAVEPOINT"]
