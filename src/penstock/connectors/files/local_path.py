"""Paths as programs write them, as places that driver and workers share."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from penstock.common.errors import NotSupportedError
from penstock.storage import absolute_location, storage_at

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def local_path(path: object, owner: str) -> str:
    """An absolute path from a plain one or a file: URI; other file systems are refused."""
    text = _text(path, owner)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return os.path.abspath(text)
    if scheme[1].lower() != "file":
        raise NotSupportedError(
            f"{owner}: {text!r} is on the file system {scheme[1]!r}; only files that driver and workers reach by a"
            " plain path are supported so far. Mount the file system, or use a plain path."
        )
    return os.path.abspath(unquote(urlsplit(text).path))


def sink_location(path: object, owner: str) -> str:
    """The same for what is written, which may be on any store that fsspec reaches."""
    text = _text(path, owner)
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1].lower() == "file":
        return local_path(text, owner)
    storage_at(text)  # a store that cannot be reached shall fail where it is written down
    return absolute_location(text)


def _text(path: object, owner: str) -> str:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text:
        raise TypeError(f"{owner} takes a path as text, not {path!r}.")
    return text
