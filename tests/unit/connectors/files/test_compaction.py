"""Small part files become large ones: nothing is lost, doubled or seen too early, wherever a driver dies."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Encoder, Types
from penstock.common.errors import NotSupportedError
from penstock.connectors.files.commit import Rename, hidden_name
from penstock.connectors.files.compacting import CompactingCommitter
from penstock.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    RollingPolicy,
)
from penstock.datastream.formats.parquet import ParquetBulkWriters
from penstock.storage import storage_at
from penstock.storage.local import LocalStorage
from penstock.storage.remote import RemoteStorage

EVERY_THREE = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
CONCAT = FileCompactor.concat_file_compactor()


def visible(directory: Path) -> list[Path]:
    return sorted(p for p in directory.rglob("*") if p.is_file() and not p.name.startswith("."))


def lines(directory: Path) -> Counter[str]:
    return Counter(line for path in visible(directory) for line in path.read_text().splitlines())


def stage(directory: Path, job: str, name: str, content: str) -> Rename:
    directory.mkdir(parents=True, exist_ok=True)
    hidden = directory / hidden_name(name, job, uuid.uuid4().hex)
    hidden.write_text(content)
    return Rename(str(hidden), str(directory / name))


def committer(directory: Path, strategy: Any = EVERY_THREE, compactor: FileCompactor = CONCAT) -> CompactingCommitter:
    made = CompactingCommitter(str(directory), "job", strategy, compactor)
    made.open()
    return made


def test_a_job_leaves_few_files(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env(1, epoch_records=10)
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .enable_compact(FileCompactStrategy.builder().enable_compaction_on_checkpoint(4).build(), CONCAT)
        .build()
    )
    env.from_collection(list(range(100)), Types.INT()).map(str, Types.STRING()).sink_to(sink)
    env.execute()
    assert lines(tmp_path) == Counter(map(str, range(100)))
    assert len(visible(tmp_path)) == 3 and all(path.name.startswith("compacted-part-") for path in visible(tmp_path))
    assert len(list(tmp_path.iterdir())) == 3


def test_nothing_is_visible_before_the_strategy_wants_it(tmp_path: Path) -> None:
    commits = committer(tmp_path)
    for epoch in (1, 2):
        commits.commit(epoch, [stage(tmp_path, "job", f"part-{epoch}", f"{epoch}\n")])
        assert visible(tmp_path) == []
    commits.commit(3, [stage(tmp_path, "job", "part-3", "3\n")])
    assert [path.read_text() for path in visible(tmp_path)] == ["1\n2\n3\n"]


def test_size_counts_by_bucket_and_the_delimiter_follows_every_file_as_in_flink(tmp_path: Path) -> None:
    strategy = FileCompactStrategy.builder().set_size_threshold(6).set_num_compact_threads(2).build()
    commits = committer(tmp_path, strategy, FileCompactor.concat_file_compactor(b"--\n"))
    commits.commit(1, [stage(tmp_path / "a", "job", "part-1", "aaa\n"), stage(tmp_path / "b", "job", "part-1", "b\n")])
    commits.commit(2, [stage(tmp_path / "a", "job", "part-2", "aa\n")])
    assert [path.read_text() for path in visible(tmp_path)] == ["aaa\n--\naa\n--\n"]
    commits.sweep()
    assert [path.read_text() for path in visible(tmp_path / "b")] == ["b\n--\n"]


def test_files_may_stay_as_they_are(tmp_path: Path) -> None:
    commits = committer(tmp_path, EVERY_THREE, FileCompactor.identical_file_compactor())
    commits.commit(1, [stage(tmp_path, "job", f"part-{number}", f"{number}\n") for number in (1, 2)])
    assert visible(tmp_path) == []
    commits.sweep()
    assert [path.name for path in visible(tmp_path)] == ["compacted-part-1", "compacted-part-2"]


def test_a_job_without_compaction_releases_what_was_left(tmp_path: Path) -> None:
    committer(tmp_path).commit(1, [stage(tmp_path, "job", "part-1", "1\n")])
    later = CompactingCommitter(str(tmp_path), "another", None, FileCompactor.identical_file_compactor())
    later.open()
    later.commit(1, [stage(tmp_path, "another", "part-2", "2\n")])
    assert [path.name for path in visible(tmp_path)] == ["part-1", "part-2"]


class Killed(BaseException):
    """No finally of the program may help."""


@pytest.mark.parametrize("step", range(1, 14))
def test_killed_between_any_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """The driver dies at the n-th change of the store, once before it and once after; the epoch is committed again."""
    for after in (False, True):
        directory = tmp_path / str(after)
        staged = [[stage(directory, "job", f"part-{epoch}", f"{epoch}\n")] for epoch in range(1, 7)]
        left = [step]

        def dying(original: Callable[..., Any], after: bool = after, left: list[int] = left) -> Callable[..., Any]:
            def change(self: LocalStorage, *arguments: Any) -> Any:
                left[0] -= 1
                if left[0] == 0 and not after:
                    raise Killed
                result = original(self, *arguments)
                if left[0] == 0:
                    raise Killed
                return result

            return change

        with monkeypatch.context() as patched:
            for method in ("rename", "delete"):
                patched.setattr(LocalStorage, method, dying(getattr(LocalStorage, method)))
            commits, epoch = committer(directory), 1
            while epoch <= 6:
                try:
                    commits.commit(epoch, staged[epoch - 1])
                    epoch += 1
                except Killed:
                    commits = committer(directory)
                assert not lines(directory) - Counter(map(str, range(1, 7)))
        commits.sweep()
        assert lines(directory) == Counter(map(str, range(1, 7)))


@pytest.mark.parametrize("compactor", [CONCAT, FileCompactor.identical_file_compactor()])
@pytest.mark.parametrize("step", range(1, 17))
def test_killed_between_copy_and_removal(monkeypatch: pytest.MonkeyPatch, step: int, compactor: FileCompactor) -> None:
    """Which are two things on an object store."""
    location = f"memory://{uuid.uuid4().hex}/sink"
    store, left = storage_at(location), [step]

    def killed(self: RemoteStorage, name: str, new_name: str) -> None:
        left[0] -= 1
        self.rename_whole(name, new_name)  # type: ignore[attr-defined]
        if left[0] == 0:
            self.write(name, self.read(new_name))
            raise Killed

    monkeypatch.setattr(RemoteStorage, "rename_whole", RemoteStorage.rename, raising=False)
    monkeypatch.setattr(RemoteStorage, "rename", killed)

    def opened() -> CompactingCommitter:
        made = CompactingCommitter(location, "job", EVERY_THREE, compactor)
        made.open()
        return made

    staged = []
    for epoch in range(1, 8):
        hidden = hidden_name(f"part-{epoch}", "job", uuid.uuid4().hex)
        store.write(hidden, f"{epoch}\n".encode())
        staged.append(Rename(f"{location}/{hidden}", f"{location}/part-{epoch}"))
    commits, epoch = opened(), 1
    while epoch <= 8:
        try:
            commits.commit(epoch, staged[epoch - 1 : epoch]) if epoch <= 7 else commits.sweep()
            epoch += 1
        except Killed:
            commits = opened()
    found = [line for name in store.names() if name[0] != "." for line in store.read(name).splitlines()]
    assert sorted(found) == [b"%d" % number for number in range(1, 8)]
    assert not [name for name in store.names() if name[0] == "."]


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="say when files are compacted"):
        FileCompactStrategy.builder().set_num_compact_threads(2).build()
    factory = ParquetBulkWriters.for_row_type(Types.ROW_NAMED(["a"], [Types.LONG()]))
    with pytest.raises(NotSupportedError, match="no file of that format"):
        FileSink.for_bulk_format(str(tmp_path), factory).enable_compact(EVERY_THREE, CONCAT)
