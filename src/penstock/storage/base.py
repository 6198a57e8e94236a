"""What the project asks of a place for its files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import BinaryIO

from penstock.common.errors import PenstockError


class StorageError(PenstockError):
    """A place for files does not do what is asked of it."""


class Storage(ABC):
    """Files below one location, by names such as ``epochs/000000000007.epoch``. Directories come and go by themselves.

    A file that is there is complete and safe: it gets its name only when all of it is. What is read is what was written
    last. Methods raise FileNotFoundError for files that are missing, and other OSErrors for what goes wrong.
    """

    def __init__(self, location: str) -> None:
        self.location = location

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """A file to be read, from any place in it."""

    def read(self, name: str) -> bytes:
        with self.open(name) as file:
            return file.read()

    @abstractmethod
    def writer(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A file to be written from front to back; it is there, or replaced, when the context ends without an error."""

    def write(self, name: str, content: bytes) -> None:
        with self.writer(name) as file:
            file.write(content)

    @abstractmethod
    def create(self, name: str, content: bytes) -> bool:
        """Writes a file that is not there; False when it is. Of several who try at once, one gets True."""

    @property
    def appends(self) -> bool:
        """Whether :meth:`append` works: object stores have none."""
        return False

    def append(self, name: str, content: bytes) -> None:
        """Adds to the end of a file, or begins it; safe when it returns, but a crash may leave a part of it."""
        raise StorageError(f"{self.location}: files of this store cannot be appended to. Write one file each time.")

    @abstractmethod
    def names(self, prefix: str = "") -> list[str]:
        """The names that begin with the prefix, in their order, from all directories."""

    def sizes(self) -> dict[str, int]:
        """All names with the number of bytes of each file."""
        sizes = {}
        for name in self.names():
            with self.open(name) as file:
                sizes[name] = file.seek(0, 2)
        return sizes

    def folders(self) -> list[str]:
        """The first parts of names that have several, also of what is not complete."""
        return sorted({name.split("/")[0] for name in self.names() if "/" in name})

    @abstractmethod
    def exists(self, name: str) -> bool: ...

    @abstractmethod
    def delete(self, name: str) -> None:
        """Nothing happens when the file is not there."""

    def delete_folder(self, folder: str = "") -> None:
        """Everything below a folder, or everything; as far as possible, without complaint."""
        for name in self.names(f"{folder}/" if folder else ""):
            self.delete(name)

    @abstractmethod
    def rename(self, name: str, new_name: str) -> None:
        """Gives a file another name, under which none is yet.

        Object stores copy it and delete the old one, which a crash may come between.
        """
