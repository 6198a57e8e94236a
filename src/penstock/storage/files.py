"""Single files by their whole path or URI, wherever they lie."""

from __future__ import annotations

import os
import re
from typing import BinaryIO

from penstock.storage.locations import storage_at

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_remote(path: str) -> bool:
    return _SCHEME.match(path) is not None


def open_file(path: str) -> BinaryIO:
    """To be read, from any place in it."""
    if not is_remote(path):
        return open(path, "rb", buffering=0)
    directory, _, name = path.rpartition("/")
    return storage_at(directory).open(name)


def size_of_file(path: str) -> int:
    if not is_remote(path):
        return os.path.getsize(path)
    with open_file(path) as file:
        return file.seek(0, os.SEEK_END)
