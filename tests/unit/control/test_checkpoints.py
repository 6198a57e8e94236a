"""When checkpoints are due, which are kept, and what their failure means."""

from __future__ import annotations

from pathlib import Path

from penstock.common.configuration import Configuration
from penstock.control.checkpoints import CheckpointSchedule, CheckpointSettings, CheckpointStore


def test_checkpoints_come_at_their_interval_and_one_at_a_time() -> None:
    schedule = CheckpointSchedule(1000, 0, 0, now=0)
    assert not schedule.due(999)
    assert schedule.due(1000)
    schedule.triggered(1000)
    assert not schedule.due(5000)
    schedule.completed(2500)
    assert schedule.due(2500)


def test_the_pause_between_two_is_kept() -> None:
    schedule = CheckpointSchedule(1000, 700, 0, now=0)
    schedule.triggered(1000)
    schedule.completed(1900)
    assert not schedule.due(2500)
    assert schedule.due(2600)


def test_failures_in_a_row_are_tolerated_up_to_the_limit() -> None:
    schedule = CheckpointSchedule(1000, 0, 2, now=0)
    assert schedule.failed(1) and schedule.failed(2)
    assert not schedule.failed(3)
    schedule.completed(4)
    assert schedule.failed(5)


def test_an_abandoned_checkpoint_is_no_failure() -> None:
    schedule = CheckpointSchedule(1000, 0, 0, now=0)
    schedule.triggered(1000)
    schedule.abandoned()
    assert schedule.due(2000)


def _write(store: CheckpointStore, number: int, complete: bool = True) -> None:
    path = Path(store.path_of(number))
    path.mkdir(parents=True)
    (path / "part").write_text("state")
    if complete:
        (path / "_metadata").write_text("{}")


def test_the_newest_complete_checkpoints_are_kept(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "job", retained=2)
    assert store.next_number() == 1
    for number in (1, 2, 3):
        _write(store, number)
    _write(store, 4, complete=False)
    assert store.next_number() == 5
    store.drop_old()
    assert sorted(path.name for path in (tmp_path / "job").iterdir()) == ["chk-2", "chk-3"]
    store.remove_all()
    assert not (tmp_path / "job").exists()


def test_settings_come_from_flinks_options(tmp_path: Path) -> None:
    configuration = Configuration()
    assert CheckpointSettings.of(configuration, tmp_path, "j") is None
    configuration.set_string("execution.checkpointing.interval", "6 s")
    configuration.set_string("execution.checkpointing.num-retained", "3")
    configuration.set_string("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION")
    settings = CheckpointSettings.of(configuration, tmp_path, "j")
    assert settings is not None
    assert (settings.interval_ms, settings.retained, settings.retain_on_cancel) == (6000, 3, True)
    assert settings.directory == tmp_path / "checkpoints" / "j"
