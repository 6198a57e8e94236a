"""The address of a directory in the one form in which Flink shows it: `file:/a/b`, `hdfs://host:80/a`."""

from __future__ import annotations

import posixpath
import re

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)")


def normal_uri(uri: str) -> str:
    """Without empty steps, dots and a slash at the end; a path without scheme is treated alike."""
    found = _URI.fullmatch(uri)
    if found is None:
        return normal_path(uri)
    scheme, authority, path = found[1], found[2], found[3]
    return f"{scheme}:{f'//{authority}' if authority else ''}{normal_path(path) if path else ''}"


def normal_path(path: str) -> str:
    normal = posixpath.normpath(path)
    return "/" + normal.lstrip("/") if normal.startswith("/") else normal
