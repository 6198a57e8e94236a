"""Checkpoints of whole jobs: what is kept and told of them, starting from one, full disks and slow epochs."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.snapshot_history import HistoryEntry
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.storage import local

RECORDS = 100
EPOCH = 10


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


EXPECTED = sorted((n, n // 7 + 1) for n in range(RECORDS))


def run(executor: LocalExecutor, parallelism: int = 2) -> list[Any]:
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    numbers = env.from_collection(list(range(RECORDS)), Types.LONG()).uid("numbers")
    return list(numbers.key_by(lambda n: n % 7).process(Count()).uid("count").execute_and_collect())


def every_epoch(directory: Path, retained: int = 3, **pacing: Any) -> CheckpointSettings:
    return CheckpointSettings(Pacing(**{"interval_ms": 0, **pacing}), directory, retained, frozenset(JobStatus))


def executor_with(settings: CheckpointSettings, **options: Any) -> LocalExecutor:
    return LocalExecutor(EPOCH, checkpoints=settings, **options)


def history(executor: LocalExecutor) -> tuple[HistoryEntry, ...]:
    assert executor.snapshots is not None
    return executor.snapshots.describe().entries


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


def test_the_newest_are_kept_and_each_says_what_changed(tmp_path: Path) -> None:
    executor = executor_with(every_epoch(tmp_path))
    assert sorted(run(executor)) == EXPECTED
    entries = history(executor)
    assert [entry.id for entry in entries] == list(range(1, 11))
    assert names(tmp_path) == ["chk-10", "chk-8", "chk-9"]
    assert [entry.discarded for entry in entries] == [True] * 7 + [False] * 3
    for entry in entries:
        assert (entry.status.name, entry.subtasks) == ("COMPLETED", 3)
        assert (entry.epochs_since, entry.records_since) == (1, EPOCH)
        assert entry.bytes > 0 and entry.changed_bytes > 0 and entry.duration_ms >= 0


@pytest.mark.parametrize("form", ["chk-5", "."])
@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_job_goes_on_from_a_checkpoint_or_from_the_newest_of_a_directory(
    form: str, parallelism: int, tmp_path: Path
) -> None:
    first = LocalExecutor(
        EPOCH, checkpoints=every_epoch(tmp_path / "c"), stop_after=5, savepoint_directory=str(tmp_path / "s")
    )
    before = run(first)
    start = os.path.normpath(tmp_path / "c" / form)
    again = executor_with(every_epoch(tmp_path / "d"), start_from=start)
    after = run(again, parallelism)
    assert sorted(before[: 5 * EPOCH] + after) == EXPECTED
    assert again.snapshots is not None
    restored = again.snapshots.describe().restored
    assert (restored.path, restored.id, restored.epoch) == (str(tmp_path / "c" / "chk-5"), 5, 5)


def test_a_directory_without_checkpoints_is_no_place_to_start_from(tmp_path: Path) -> None:
    with pytest.raises(JobExecutionError, match="is no savepoint: there is no _metadata"):
        run(LocalExecutor(start_from=str(tmp_path)))


# -- full disks ----------------------------------------------------------------------------------------------------


def no_space(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], bool], str], list[str]]:
    """Lets chosen writes below `savepoint` fail, after half of the content was written; gives the names of all."""

    def arm(fails: Callable[[int], bool], name_part: str) -> list[str]:
        written: list[str] = []
        calls = itertools.count()
        real = os.replace

        def replace(source: Any, target: Any) -> None:
            if name_part in os.path.basename(target):
                written.append(os.path.basename(target))
                if fails(next(calls)):
                    no_space()
            real(source, target)

        monkeypatch.setattr(os, "replace", replace)
        return written

    return arm


files_of_a_checkpoint = pytest.mark.parametrize(
    "what",
    # Those of the levels are written where the tasks run.
    [*(pytest.param(level, marks=pytest.mark.in_this_process) for level in ("level-0", "level-1")), "_metadata"],
)


@files_of_a_checkpoint
def test_when_the_disk_is_full_the_job_goes_on_and_the_last_good_checkpoint_stays(
    what: str, tmp_path: Path, full_disk: Any
) -> None:
    writes_per_epoch = 2 if what == "level-1" else 1
    full_disk(lambda call: call >= 4 * writes_per_epoch, what)
    executor = executor_with(every_epoch(tmp_path, retained=1, tolerable_failures=100))
    assert sorted(run(executor)) == EXPECTED
    entries = history(executor)
    assert [entry.status.name for entry in entries] == ["COMPLETED"] * 4 + ["FAILED"] * 6
    assert all("No space left" in str(entry.failure) for entry in entries[4:])
    assert names(tmp_path) == ["chk-4"], "what failed has left nothing"
    after = run(LocalExecutor(EPOCH, start_from=str(tmp_path)))
    assert sorted(after) == [record for record in EXPECTED if record[0] >= 40]


@files_of_a_checkpoint
@pytest.mark.parametrize("call", range(4))
def test_each_single_write_may_fail_and_the_next_checkpoint_is_good(
    what: str, call: int, tmp_path: Path, full_disk: Any
) -> None:
    written = full_disk(lambda number: number == call, what)
    executor = executor_with(every_epoch(tmp_path, tolerable_failures=1))
    assert sorted(run(executor)) == EXPECTED
    statuses = [entry.status.name for entry in history(executor)]
    assert len(written) > call and statuses.count("FAILED") == 1 and statuses[-1] == "COMPLETED"
    assert names(tmp_path) == ["chk-10", "chk-8", "chk-9"]


def test_more_failures_than_tolerated_fail_the_job(tmp_path: Path, full_disk: Any) -> None:
    full_disk(lambda call: call >= 2, "_metadata")
    executor = executor_with(every_epoch(tmp_path, retained=1, tolerable_failures=2))
    with pytest.raises(JobExecutionError, match=r"checkpoint 5 failed, and no more failures are tolerated: .*No space"):
        run(executor)
    assert names(tmp_path) == ["chk-2"]
    assert sorted(run(LocalExecutor(EPOCH, start_from=str(tmp_path)))) == [r for r in EXPECTED if r[0] >= 20]


@pytest.mark.in_this_process
def test_half_written_parts_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = local.bring_to_disk

    def bring_to_disk(file: Any, name: str) -> None:
        real(file, name)
        if not name.endswith(".epoch"):  # the job's own records are on another disk
            no_space()

    monkeypatch.setattr(local, "bring_to_disk", bring_to_disk)
    executor = executor_with(every_epoch(tmp_path, tolerable_failures=100))
    assert sorted(run(executor)) == EXPECTED
    assert names(tmp_path) == []


def test_a_full_disk_under_the_epoch_records_fails_the_job_cleanly(tmp_path: Path, full_disk: Any) -> None:
    full_disk(lambda call: call == 5, ".epoch")
    with pytest.raises(JobExecutionError, match="No space left"):
        run(executor_with(every_epoch(tmp_path)))
    assert names(tmp_path)[:1] == ["chk-3"]
    assert sorted(run(LocalExecutor(EPOCH, start_from=str(tmp_path)))) == [r for r in EXPECTED if r[0] >= 50]


# -- slow epochs ---------------------------------------------------------------------------------------------------


def test_checkpoints_whose_epochs_take_too_long_are_given_up(tmp_path: Path) -> None:
    executor = executor_with(every_epoch(tmp_path, timeout_ms=0, tolerable_failures=100))
    assert sorted(run(executor)) == EXPECTED
    assert {entry.failure for entry in history(executor)} == {"it took longer than 0 ms"}
    assert names(tmp_path) == []


def test_too_many_slow_ones_fail_the_job(tmp_path: Path) -> None:
    with pytest.raises(JobExecutionError, match="checkpoint 3 failed, and no more .* longer than 0 ms"):
        run(executor_with(every_epoch(tmp_path, timeout_ms=0, tolerable_failures=2)))
