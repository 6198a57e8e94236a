"""Paths as programs write them, as paths of the file system that driver and workers share."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from penstock.common.errors import NotSupportedError


def local_path(path: object, owner: str) -> str:
    """An absolute path from a plain one or a file: URI; other file systems are refused."""
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise TypeError(f"{owner} takes a path as text, not {path!r}.")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"{owner} takes a path as text, not {path!r}.")
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", text)
    if scheme is None:
        return os.path.abspath(text)
    if scheme[1].lower() != "file":
        raise NotSupportedError(
            f"{owner}: {text!r} is on the file system {scheme[1]!r}; only files that driver and workers reach by a"
            " plain path are supported so far. Mount the file system, or use a plain path."
        )
    return os.path.abspath(unquote(urlsplit(text).path))
