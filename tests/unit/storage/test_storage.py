"""What the project asks of a place for its files, on a directory, in memory, through pyarrow, and on an S3 server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from penstock.common.errors import ConfigurationError
from penstock.storage import Storage, StorageError, storage_at

BIG = os.urandom(9 << 20)  # more than one part of an S3 upload


def cannot_create(storage: Storage) -> bool:
    return storage.location.startswith("arrow:")


@pytest.mark.parametrize("content", [b"", b"abc", BIG])
def test_what_was_written_last_is_read(storage: Storage, content: bytes) -> None:
    storage.write("epochs/1", b"before")
    storage.write("epochs/1", content)
    assert storage.read("epochs/1") == content
    with storage.open("epochs/1") as file:
        file.seek(1)
        assert file.read(1) == content[1:2]


def test_a_file_that_is_not_there(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError):
        storage.read("nothing")
    assert not storage.exists("nothing")
    storage.delete("nothing")
    storage.delete_folder("nothing/at-all")
    assert storage.names() == []
    assert storage.names("nothing/") == []


@pytest.mark.parametrize("size", [1, len(BIG)])
def test_a_writer_that_fails_leaves_what_was_there(storage: Storage, size: int) -> None:
    storage.write("old", b"old")
    for name in ("old", "new"):
        with pytest.raises(RuntimeError, match="on the way"), storage.writer(name) as file:
            file.write(BIG[:size])
            raise RuntimeError("on the way")
    assert storage.names() == ["old"]
    assert storage.read("old") == b"old"


def test_names_are_listed_by_their_beginning_from_all_directories(storage: Storage) -> None:
    for name in ("a/1", "a/2", "a/b/3", "ab/4", "5"):
        storage.write(name, b"x")
    assert storage.names() == ["5", "a/1", "a/2", "a/b/3", "ab/4"]
    assert storage.names("a") == ["a/1", "a/2", "a/b/3", "ab/4"]
    assert storage.names("a/") == ["a/1", "a/2", "a/b/3"]
    assert storage.names("a/b/3") == ["a/b/3"]
    storage.delete_folder("a")
    assert storage.names() == ["5", "ab/4"]
    assert storage.exists("5")


def test_only_one_of_many_creates(storage: Storage) -> None:
    if cannot_create(storage):
        with pytest.raises(StorageError, match="cannot create a file only if"):
            storage.create("lock", b"")
        return
    created: list[int] = []
    barrier = threading.Barrier(8)

    def create(number: int) -> None:
        barrier.wait()
        if storage.create("locks/lock", str(number).encode()):
            created.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(created) == 1
    assert storage.read("locks/lock") == str(created[0]).encode()
    assert storage.names() == ["locks/lock"]


def test_a_file_gets_another_name_but_never_that_of_another(storage: Storage) -> None:
    storage.write("staged/a", b"a")
    storage.rename("staged/a", "final/a")
    assert storage.names() == ["final/a"]
    storage.write("staged/b", b"b")
    with pytest.raises(FileExistsError):
        storage.rename("staged/b", "final/a")
    assert (storage.read("final/a"), storage.read("staged/b")) == (b"a", b"b")


def test_appending_where_it_is_possible(storage: Storage) -> None:
    if not storage.appends:
        with pytest.raises(StorageError, match="cannot be appended to"):
            storage.append("log", b"a")
        return
    storage.append("logs/log", b"a")
    storage.append("logs/log", b"b")
    assert storage.read("logs/log") == b"ab"


def test_a_killed_writer_leaves_nothing_under_the_name(tmp_path: Path) -> None:
    program = (
        "import os, sys; from penstock.storage import storage_at\n"
        "with storage_at(sys.argv[1]).writer('f') as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)]).returncode == -9
    assert storage_at(str(tmp_path)).names() == []


@pytest.mark.parametrize(
    ("location", "message"),
    [("nosuch://bucket/path", "nosuch"), ("gs://bucket/path", "pip install|not installed|gcsfs")],
)
def test_places_that_cannot_be_reached_are_named(location: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        storage_at(location)
