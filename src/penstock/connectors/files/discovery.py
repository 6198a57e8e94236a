"""Finds the files below the paths of a source."""

from __future__ import annotations

import os
from collections.abc import Iterator

from penstock.common.errors import SetupError


def check_paths_exist(paths: list[str]) -> None:
    for path in paths:
        if not os.path.exists(path):
            raise SetupError(
                f"FileSource: there is no file or directory {path!r} (seen from {os.getcwd()!r})."
                " Create it before the job starts, or correct the path."
            )


def find_files(paths: list[str]) -> Iterator[tuple[str, int]]:
    """Every file below the paths with its size, in the order of the paths and of the names below them."""
    for path in paths:
        if os.path.isdir(path):
            yield from _files_below(path)
        elif os.path.isfile(path):
            yield path, os.path.getsize(path)


def _files_below(directory: str) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(directory) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except FileNotFoundError:  # it vanished between two looks, which is no news
        return
    for entry in entries:
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            yield from _files_below(entry.path)
        elif entry.is_file():
            yield entry.path, entry.stat().st_size
