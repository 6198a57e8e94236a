"""Paths as programs write them, as places that driver and workers share."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from penstock.storage import absolute_location, storage_at

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def file_location(path: object, owner: str) -> str:
    """An absolute path from a plain one or a file: URI; other URIs stay, for any store that fsspec reaches."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text:
        raise TypeError(f"{owner} takes a path as text, not {path!r}.")
    scheme = _SCHEME.match(text)
    if scheme is None:
        return os.path.abspath(text)
    if scheme[1].lower() == "file":
        return os.path.abspath(unquote(urlsplit(text).path))
    storage_at(text)  # a store that cannot be reached shall fail where it is written down
    return absolute_location(text)
