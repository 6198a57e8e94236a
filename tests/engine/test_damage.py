"""Whatever happens to the files of a checkpoint or a savepoint: it is found before anything of them is used."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.restore_point import open_restore_point
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.savepoint import open_savepoint
from penstock.runtime.snapshot_target import SnapshotKind


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


class Seen(MapFunction):
    """Level 0 has something to remember as well."""

    def __init__(self) -> None:
        self.seen = 0

    def map(self, value: int) -> int:
        self.seen += 1
        return value


def run(**options: Any) -> tuple[list[Any], LocalExecutor]:
    executor = LocalExecutor(10, **options)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    numbers = env.from_collection(list(range(60)), Types.LONG()).uid("numbers")
    seen = numbers.map(Seen(), Types.LONG()).set_parallelism(1).uid("seen")
    results = seen.key_by(lambda n: n % 7).process(Count()).uid("count").execute_and_collect()
    return list(results), executor


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`checkpoints/chk-2` and `chk-3` of the same job, and a savepoint of it."""
    directory = tmp_path_factory.mktemp("pristine")
    settings = CheckpointSettings(Pacing(interval_ms=0), directory / "checkpoints", 2, frozenset(JobStatus))
    _, executor = run(checkpoints=settings, stop_after=3, savepoint_directory=str(directory))
    assert executor.savepoint_path is not None
    os.rename(executor.savepoint_path, directory / "savepoint")
    assert sorted(os.listdir(directory / "checkpoints")) == ["chk-2", "chk-3"]
    return directory


@pytest.fixture
def files(pristine: Path, tmp_path: Path) -> Path:
    shutil.copytree(pristine, tmp_path / "files")
    return tmp_path / "files"


Damage = Callable[[Path], None]


def truncated(length: Callable[[int], int]) -> Damage:
    def damage(file: Path) -> None:
        content = file.read_bytes()
        file.write_bytes(content[: length(len(content))])

    return damage


def flipped(place: float, bit: int) -> Damage:
    def damage(file: Path) -> None:
        content = bytearray(file.read_bytes())
        content[round(place * (len(content) - 1))] ^= 1 << bit
        file.write_bytes(content)

    return damage


def removed(file: Path) -> None:
    file.unlink()


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\\0")


def a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, Damage] = {
    "emptied": truncated(lambda length: 0),
    "half": truncated(lambda length: length // 2),
    "without its last byte": truncated(lambda length: length - 1),
    **{f"bit flipped at {place}": flipped(place, bit) for bit, place in enumerate((0, 0.01, 0.3, 0.5, 0.9, 1))},
    "removed": removed,
    "longer": longer,
    "a directory": a_directory,
}


FILES = [
    "_metadata",
    "count.count.1-0.arrow",
    "count.count.1-1.arrow",
    "level-0-subtask-0",
    "level-1-subtask-0",
    "level-1-subtask-1",
]
DIFFERENT = range(4)  # those that have other contents in every checkpoint


def victims(snapshot: Path) -> list[Path]:
    files = sorted(snapshot.iterdir())
    assert [file.name for file in files] == FILES
    return files


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("victim", range(len(FILES)))
def test_a_damaged_savepoint_is_refused(victim: int, damage: Damage, files: Path) -> None:
    damage(victims(files / "savepoint")[victim])
    with pytest.raises(JobExecutionError, match="damaged|no savepoint"):
        run(start_from=str(files / "savepoint"))


@pytest.mark.parametrize("named", ["directory", "checkpoint"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("victim", range(len(FILES)))
def test_the_one_before_is_used_when_the_newest_checkpoint_is_damaged_and_it_is_said_loudly(
    victim: int, damage: Damage, named: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = victims(files / "checkpoints" / "chk-3")[victim]
    damage(file)
    start = files / "checkpoints" / ("chk-3" if named == "checkpoint" else "")
    results, executor = run(start_from=str(start))
    assert sorted(results) == [(n, n // 7 + 1) for n in range(20, 60)]
    told = capsys.readouterr().err
    for said in ("WARNING", str(file.parent), file.name, str(files / "checkpoints" / "chk-2"), "All epochs after 2"):
        assert said in told
    assert executor.snapshots is not None
    restored = executor.snapshots.describe().restored
    assert restored.id == 2 and file.name in restored.instead_of[0]


def test_every_single_flipped_bit_of_the_metadata_is_found(files: Path) -> None:
    metadata = files / "savepoint" / "_metadata"
    whole = metadata.read_bytes()
    chance = random.Random(5)
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 1 << chance.randrange(8)
        metadata.write_bytes(content)
        with pytest.raises(JobExecutionError, match="damaged"):
            open_restore_point(str(files / "savepoint"))


def test_nothing_to_fall_back_to_names_everything_that_is_damaged(files: Path) -> None:
    for number in (2, 3):
        (files / "checkpoints" / f"chk-{number}" / "level-1-subtask-0").unlink()
    with pytest.raises(JobExecutionError, match=r"(?s)no checkpoint that the job can start from.*chk-3.*chk-2"):
        run(start_from=str(files / "checkpoints"))


def test_an_older_checkpoint_that_is_named_is_used_without_a_word(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, _ = run(start_from=str(files / "checkpoints" / "chk-2"))
    assert len(results) == 40 and capsys.readouterr().err == ""


# -- whole files in the wrong place --------------------------------------------------------------------------------


def _swap(one: Path, other: Path) -> None:
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


@pytest.mark.parametrize("one", DIFFERENT)
@pytest.mark.parametrize("other", DIFFERENT)
def test_files_of_one_savepoint_that_changed_places(one: int, other: int, files: Path) -> None:
    if one < other:
        parts = victims(files / "savepoint")
        _swap(parts[one], parts[other])
        with pytest.raises(JobExecutionError, match="damaged"):
            open_restore_point(str(files / "savepoint"))


@pytest.mark.parametrize("victim", DIFFERENT)
def test_files_that_changed_places_between_two_checkpoints(victim: int, files: Path) -> None:
    older, newer = (victims(files / "checkpoints" / name)[victim] for name in ("chk-2", "chk-3"))
    assert older.read_bytes() != newer.read_bytes()
    _swap(older, newer)
    with pytest.raises(JobExecutionError, match="no checkpoint that the job can start from"):
        run(start_from=str(files / "checkpoints"))


@pytest.mark.parametrize("victim", DIFFERENT)
def test_files_of_an_older_checkpoint_put_into_the_newer_one(victim: int, files: Path) -> None:
    older, newer = (victims(files / "checkpoints" / name)[victim] for name in ("chk-2", "chk-3"))
    shutil.copy(older, newer)
    assert open_restore_point(str(files / "checkpoints")).number == 2


def test_a_whole_checkpoint_under_the_name_of_another(files: Path) -> None:
    shutil.rmtree(files / "checkpoints" / "chk-3")
    shutil.copytree(files / "checkpoints" / "chk-2", files / "checkpoints" / "chk-3")
    opened = open_restore_point(str(files / "checkpoints"))
    assert opened.number == 2 and "is that of checkpoint 2" in opened.passed_over[0]


def test_a_savepoint_under_the_name_of_a_checkpoint(files: Path) -> None:
    shutil.rmtree(files / "checkpoints" / "chk-3")
    shutil.copytree(files / "savepoint", files / "checkpoints" / "chk-3")
    assert "is that of a savepoint" in open_restore_point(str(files / "checkpoints")).passed_over[0]


def test_what_a_snapshot_is_stands_in_its_metadata_not_in_its_name(files: Path, tmp_path: Path) -> None:
    shutil.copytree(files / "checkpoints" / "chk-3", tmp_path / "a copy")
    shutil.copytree(files / "savepoint", tmp_path / "chk-3")
    assert open_savepoint(str(tmp_path / "a copy")).kind is SnapshotKind.CHECKPOINT
    assert open_savepoint(str(tmp_path / "chk-3")).kind is SnapshotKind.SAVEPOINT


@pytest.mark.parametrize(
    ("where", "kind"), [("savepoint", SnapshotKind.SAVEPOINT), ("checkpoints/chk-3", SnapshotKind.CHECKPOINT)]
)
def test_metadata_of_older_versions_without_the_kind(files: Path, where: str, kind: SnapshotKind) -> None:
    metadata = files / where / "_metadata"
    saved = json.loads(metadata.read_text())["savepoint"]
    del saved["kind"]
    body = json.dumps(saved, indent=1, sort_keys=True)
    metadata.write_text(json.dumps({"sha256": hashlib.sha256(body.encode()).hexdigest(), "savepoint": saved}))
    assert open_restore_point(str(files / where)).kind is kind


def test_metadata_of_another_format_is_refused(files: Path) -> None:
    metadata = files / "savepoint" / "_metadata"
    saved = json.loads(metadata.read_text())["savepoint"] | {"version": 99}
    body = json.dumps(saved, indent=1, sort_keys=True)
    metadata.write_text(json.dumps({"sha256": hashlib.sha256(body.encode()).hexdigest(), "savepoint": saved}))
    with pytest.raises(JobExecutionError, match="it has format 99, this version reads"):
        open_restore_point(str(files / "savepoint"))


def test_metadata_is_versioned_json_with_a_checksum(files: Path) -> None:
    document = json.loads((files / "checkpoints" / "chk-3" / "_metadata").read_text())
    assert len(document["sha256"]) == 64
    checkpoint = document["savepoint"]
    assert (checkpoint["number"], checkpoint["epoch"], checkpoint["version"]) == (3, 3, 3)
    sums = {file["name"]: len(file["sha256"]) for part in checkpoint["parts"] for file in part["files"]}
    assert sums == dict.fromkeys(FILES[1:], 64)
