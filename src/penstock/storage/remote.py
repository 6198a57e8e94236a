"""Stores that are reached over the network, through fsspec: S3 and its kin, HDFS, and memory for tests."""

from __future__ import annotations

import contextlib
import posixpath
import secrets
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import fsspec

from penstock.storage.base import Storage, StorageError

_TEMPORARY = ".tmp-"
# A file of these appears as a whole when it is closed, and can be written only if it is not there.
_OBJECT_STORES = {"s3", "s3a", "gcs", "gs", "abfs", "az"}
_memory_lock = threading.Lock()


class RemoteStorage(Storage):
    """Files below a path of an fsspec file system; pyarrow's are wrapped by fsspec."""

    def __init__(self, location: str, file_system: Any, path: str) -> None:
        super().__init__(location)
        self._fs = file_system
        self._root = path.rstrip("/")
        protocols = {file_system.protocol} if isinstance(file_system.protocol, str) else set(file_system.protocol)
        self._whole = bool(protocols & _OBJECT_STORES)
        self._in_memory = "memory" in protocols

    @staticmethod
    def at(location: str) -> RemoteStorage:
        uri = location.replace("s3a://", "s3://", 1)  # Hadoop's name of the same
        # Others write to the store as well: what was listed before may be old.
        file_system, path = fsspec.core.url_to_fs(uri, use_listings_cache=False)
        return RemoteStorage(location, file_system, path)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def open(self, name: str) -> BinaryIO:
        return cast(BinaryIO, self._fs.open(self._path(name), "rb"))

    @contextlib.contextmanager
    def writer(self, name: str) -> Iterator[BinaryIO]:
        target = self._path(name)
        path = target if self._whole else self._temporary(target)
        self._make_directory(path)
        file = self._fs.open(path, "wb")
        try:
            yield file
        except BaseException:
            self._give_up(file, path)
            raise
        file.close()
        if path != target:
            self._fs.mv(path, target)

    def _make_directory(self, path: str) -> None:
        """Object stores have none; what fsspec would make there is a bucket that was mistyped."""
        if not self._whole:
            self._fs.makedirs(posixpath.dirname(path), exist_ok=True)

    def _temporary(self, path: str) -> str:
        directory, base = posixpath.split(path)
        return posixpath.join(directory, f"{_TEMPORARY}{base}.{secrets.token_hex(4)}")

    def _give_up(self, file: Any, path: str) -> None:
        if self._whole:
            file.discard()
            file.closed = True  # closing would give it its name
        else:
            file.close()
            self._fs.rm_file(path)

    def create(self, name: str, content: bytes) -> bool:
        if not self._whole and not self._in_memory:
            raise StorageError(
                f"{self.location}: this file system cannot create a file only if it is not there, so it cannot keep two"
                " drivers apart. Keep the job's home elsewhere; checkpoints, savepoints and files may be here."
            )
        path = self._path(name)
        self._make_directory(path)
        try:
            with _memory_lock if self._in_memory else contextlib.nullcontext():
                self._fs.pipe_file(path, content, mode="create")
        except FileExistsError:
            return False
        return True

    def names(self, prefix: str = "") -> list[str]:
        directory = self._path(posixpath.dirname(prefix)).rstrip("/")
        with contextlib.suppress(FileNotFoundError):
            names = [path.removeprefix(self._root).lstrip("/") for path in self._fs.find(directory)]
            return sorted(name for name in names if name.startswith(prefix) and f"/{_TEMPORARY}" not in f"/{name}")
        return []

    def sizes(self) -> dict[str, int]:
        with contextlib.suppress(FileNotFoundError):
            found = self._fs.find(self._root, detail=True)
            names = {path.removeprefix(self._root).lstrip("/"): int(entry["size"]) for path, entry in found.items()}
            return {name: size for name, size in sorted(names.items()) if f"/{_TEMPORARY}" not in f"/{name}"}
        return {}

    def exists(self, name: str) -> bool:
        return bool(self._fs.isfile(self._path(name)))

    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._path(name))

    def rename(self, name: str, new_name: str) -> None:
        target = self._path(new_name)
        if self._fs.exists(target):
            raise FileExistsError(f"{target} exists already")
        self._make_directory(target)
        self._fs.mv(self._path(name), target)
