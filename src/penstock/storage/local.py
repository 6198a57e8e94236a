"""A directory of the machine, or one that is mounted there."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from penstock.storage.base import Storage

_TEMPORARY = ".tmp-"


class LocalStorage(Storage):
    """Files that survive a crash of the machine: contents and names are brought to the disk."""

    def __init__(self, location: str) -> None:
        super().__init__(os.path.abspath(location))

    def _path(self, name: str) -> Path:
        return Path(self.location, name)

    def open(self, name: str) -> BinaryIO:
        return open(self._path(name), "rb")

    @contextlib.contextmanager
    def writer(self, name: str) -> Iterator[BinaryIO]:
        path = self._path(name)
        temporary = path.with_name(f"{_TEMPORARY}{path.name}.{secrets.token_hex(4)}")
        _make_parents(path)
        try:
            with open(temporary, "wb") as file:
                yield file
                bring_to_disk(file, name)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_directory(path.parent)

    def create(self, name: str, content: bytes) -> bool:
        path = self._path(name)
        temporary = path.with_name(f"{_TEMPORARY}{path.name}.{secrets.token_hex(4)}")
        _make_parents(path)
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                bring_to_disk(file, name)
            os.link(temporary, path)  # unlike a rename it never replaces
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
        _sync_directory(path.parent)
        return True

    @property
    def appends(self) -> bool:
        return True

    def append(self, name: str, content: bytes) -> None:
        path = self._path(name)
        _make_parents(path)
        is_new = not path.exists()
        with open(path, "ab") as file:
            file.write(content)
            bring_to_disk(file, name)
        if is_new:
            _sync_directory(path.parent)

    def names(self, prefix: str = "") -> list[str]:
        found = []
        for directory, _, files in os.walk(self._path(os.path.dirname(prefix))):
            for file in files:
                if not file.startswith(_TEMPORARY):
                    found.append(os.path.relpath(os.path.join(directory, file), self.location))
        return sorted(name for name in found if name.startswith(prefix))

    def exists(self, name: str) -> bool:
        return self._path(name).exists()

    def delete(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def folders(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.location) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
        return []

    def delete_folder(self, folder: str = "") -> None:
        shutil.rmtree(self._path(folder), ignore_errors=True)

    def rename(self, name: str, new_name: str) -> None:
        path, new_path = self._path(name), self._path(new_name)
        if new_path.exists():
            raise FileExistsError(f"{new_path} exists already")
        _make_parents(new_path)
        os.rename(path, new_path)
        _sync_directory(new_path.parent)


def bring_to_disk(file: BinaryIO, name: str) -> None:
    """All is written, some of it is still in this process, and the file does not have its name yet."""
    file.flush()
    os.fsync(file.fileno())


def _make_parents(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
