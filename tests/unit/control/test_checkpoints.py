"""How a job wants its checkpoints, and which of them are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.job_status import JobStatus
from penstock.control.checkpoints import CheckpointSettings, CheckpointStore
from penstock.control.snapshot_machine import Pacing


def _write(store: CheckpointStore, number: int, complete: bool = True) -> None:
    path = Path(store.path_of(number))
    path.mkdir(parents=True)
    (path / "part").write_text("state")
    if complete:
        (path / "_metadata").write_text("{}")


def test_the_newest_complete_checkpoints_are_kept(tmp_path: Path) -> None:
    store = CheckpointStore(str(tmp_path / "job"), retained=2)
    assert store.numbers() == []
    for number in (1, 2, 10):
        _write(store, number)
    for number in (3, 11):
        _write(store, number, complete=False)
    (tmp_path / "job" / "chk-notes").mkdir()
    assert (store.numbers(), store.complete_numbers()) == ([1, 2, 3, 10, 11], [1, 2, 10])
    assert store.drop_old() == [1, 3], "11 may belong to a driver that has just taken over"
    assert sorted(path.name for path in (tmp_path / "job").iterdir()) == ["chk-10", "chk-11", "chk-2", "chk-notes"]
    store.remove_all()
    assert not (tmp_path / "job").exists()


def test_a_store_knows_its_places(tmp_path: Path) -> None:
    store = CheckpointStore(str(tmp_path))
    _write(store, 12)
    assert [store.number_at(f"{tmp_path}/{name}") for name in ("chk-12", "chk-12/", "chk-13", "savepoint-1")] == [
        12,
        12,
        None,
        None,
    ]


def test_settings_come_from_flinks_options(tmp_path: Path) -> None:
    configuration = Configuration()
    assert CheckpointSettings.of(configuration, tmp_path, "j").pacing.interval_ms is None
    for key, value in {
        "interval": "6 s",
        "min-pause": "2 s",
        "timeout": "1 min",
        "tolerable-failed-checkpoints": "4",
        "num-retained": "3",
        "externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }.items():
        configuration.set_string(f"execution.checkpointing.{key}", value)
    settings = CheckpointSettings.of(configuration, tmp_path, "j")
    assert settings.pacing == Pacing(6000, 2000, 60_000, 4)
    assert (settings.retained, settings.kept_after) == (3, frozenset({JobStatus.FAILED, JobStatus.CANCELED}))
    assert settings.directory == str(tmp_path / "checkpoints" / "j")
    assert settings.history_file == tmp_path / "jobs" / "j" / "run-1" / "checkpoints.json"


def test_at_least_one_is_kept(tmp_path: Path) -> None:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.num-retained", "0")
    with pytest.raises(ConfigurationError, match="at least 1"):
        CheckpointSettings.of(configuration, tmp_path, "j")


@pytest.mark.parametrize("given", ["/data/c", "file:///data/c", "file:/data/c"])
def test_the_directory_with_or_without_a_scheme(given: str, tmp_path: Path) -> None:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", given)
    assert CheckpointSettings.of(configuration, tmp_path, "j").directory == "/data/c/j"


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("externalized-checkpoint-retention", "KEEP", "RETAIN_ON_CANCELLATION"),
    ],
)
def test_what_cannot_be_done_is_refused(key: str, value: str, says: str, tmp_path: Path) -> None:
    configuration = Configuration()
    configuration.set_string(f"execution.checkpointing.{key}", value)
    with pytest.raises(ConfigurationError, match=says):
        CheckpointSettings.of(configuration, tmp_path, "j")


def test_the_way_out_names_the_newest_complete_checkpoint(tmp_path: Path) -> None:
    settings = CheckpointSettings(Pacing(), str(tmp_path / "job"))
    assert "no checkpoint" in settings.way_out()
    store = CheckpointStore(str(tmp_path / "job"))
    _write(store, 9)
    _write(store, 12)
    _write(store, 13, complete=False)
    assert f"penstock run -s {tmp_path}/job/chk-12 SCRIPT" in settings.way_out()
