"""Finds the files below the paths of a source."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

from penstock.common.errors import SetupError
from penstock.storage import storage_at
from penstock.storage.files import is_remote, size_of_file

_HIDDEN = (".", "_")


def check_paths_exist(paths: list[str]) -> None:
    for path in paths:
        there = any(True for _ in _files_in_store(path)) if is_remote(path) else os.path.exists(path)
        if not there:
            seen_from = "" if is_remote(path) else f" (seen from {os.getcwd()!r})"
            raise SetupError(
                f"FileSource: there is no file or directory {path!r}{seen_from}."
                " Create it before the job starts, or correct the path."
            )


def find_files(paths: list[str], known: Callable[[str], bool] = lambda path: False) -> Iterator[tuple[str, int]]:
    """Every file below the paths with its size, in the order of the paths and of the names below them.

    Nothing is asked about files that are known: a directory may have many, and is looked at again and again.
    """
    for path in paths:
        if is_remote(path):
            yield from (found for found in _files_in_store(path) if not known(found[0]))
        elif os.path.isdir(path):
            yield from _files_below(path, known)
        elif os.path.isfile(path) and not known(path):
            with contextlib.suppress(FileNotFoundError):
                yield path, os.path.getsize(path)


def _files_below(directory: str, known: Callable[[str], bool]) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(directory) as listing:
            entries = sorted((entry for entry in listing if not known(entry.path)), key=lambda entry: entry.name)
    except FileNotFoundError:  # it vanished between two looks, which is no news
        return
    for entry in entries:
        if entry.name.startswith(_HIDDEN):
            continue
        if entry.is_dir():
            yield from _files_below(entry.path, known)
        elif entry.is_file():
            try:
                size = entry.stat().st_size
            except FileNotFoundError:  # as a file that was written under another name and is renamed now
                continue
            yield entry.path, size


def _files_in_store(path: str) -> Iterator[tuple[str, int]]:
    """An object store has no directories: a path is a file, or what the names of files begin with."""
    directory, _, name = path.rpartition("/")
    if storage_at(directory).exists(name):
        yield path, size_of_file(path)
        return
    for name, size in storage_at(path).sizes().items():
        if not any(part.startswith(_HIDDEN) for part in name.split("/")):
            yield f"{path}/{name}", size
