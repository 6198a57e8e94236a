"""What is told about checkpoints outlives the driver, and never harms the job."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.control.epoch_store import Totals
from penstock.control.snapshot_history import (
    HistoryEntry,
    Restored,
    SnapshotCounts,
    SnapshotHistory,
    SnapshotStatus,
    WrittenFacts,
)
from penstock.runtime.snapshot_target import SnapshotKind


def _filled(file: Path) -> SnapshotHistory:
    history = SnapshotHistory(file)
    history.started_from(Restored(1, "/c/chk-3", 3, 17, ("chk-4: no _metadata",)))
    history.began(HistoryEntry(4, SnapshotKind.CHECKPOINT, 1000, path="/c/chk-4"))
    history.completed(4, 1500, WrittenFacts(9, 100, 2), Totals(50, 8))
    history.began(HistoryEntry(5, SnapshotKind.SAVEPOINT, 2000, path="/s/savepoint-1"))
    return history


def test_the_next_process_goes_on_with_the_history(tmp_path: Path) -> None:
    _filled(tmp_path / "checkpoints.json")
    history = SnapshotHistory(tmp_path / "checkpoints.json")
    assert history.last_number == 5
    assert history.restored == Restored(1, "/c/chk-3", 3, 17, ("chk-4: no _metadata",))
    assert [(e.id, e.status.name, e.duration_ms) for e in history.entries] == [
        (4, "COMPLETED", 500),
        (5, "FAILED", None),
    ]
    assert "driver died" in str(history.entries[1].failure)
    assert history.describe().counts == SnapshotCounts(restored=1, total=2, completed=1, failed=1)
    assert history.describe().in_progress == 0
    history.began(HistoryEntry(6, SnapshotKind.CHECKPOINT, 9000, path="/c/chk-6"))
    done = history.completed(6, 9100, WrittenFacts(12, 100, 2), Totals(80, 10))
    assert (done.epochs_since, done.records_since, done.changed_bytes) == (3, 30, 2)


def test_only_the_newest_are_remembered_but_all_are_counted(tmp_path: Path) -> None:
    history = SnapshotHistory(tmp_path / "checkpoints.json")
    for number in range(1, 131):
        history.began(HistoryEntry(number, SnapshotKind.CHECKPOINT, number))
        history.failed(number, number, "disk full")
    assert [entry.id for entry in history.entries] == list(range(31, 131))
    assert SnapshotHistory(tmp_path / "checkpoints.json").counts.failed == 130


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 99}', '{"version": 1, "entries": 3}', "\x00" * 50])
def test_a_damaged_history_is_told_and_begun_anew(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "checkpoints.json"
    file.write_text(content)
    history = SnapshotHistory(file)
    assert str(file) in capsys.readouterr().err
    assert not history.entries
    history.began(HistoryEntry(1, SnapshotKind.CHECKPOINT, 5))
    assert len(SnapshotHistory(file).entries) == 1


def test_a_full_disk_costs_a_line_in_the_history_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "checkpoints.json"
    history = _filled(file)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        history.failed(5, 2500, "disk full")
    assert "No space left" in capsys.readouterr().err
    assert json.loads(file.read_text())["entries"][1]["status"] == "IN_PROGRESS"
    assert history.entries[1].status is SnapshotStatus.FAILED


def test_a_history_of_an_older_version(tmp_path: Path) -> None:
    file = tmp_path / "checkpoints.json"
    _filled(file)
    saved = json.loads(file.read_text())
    for entry in saved["entries"]:
        entry["savepoint"] = entry.pop("kind") == "SAVEPOINT"
    file.write_text(json.dumps(saved))
    kinds = [entry.kind for entry in SnapshotHistory(file).entries]
    assert kinds == [SnapshotKind.CHECKPOINT, SnapshotKind.SAVEPOINT]
