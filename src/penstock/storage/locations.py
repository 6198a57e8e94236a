"""Which storage a path or URI means."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from penstock.common.errors import ConfigurationError
from penstock.storage.base import Storage
from penstock.storage.local import LocalStorage

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")

_METADATA = "_metadata"


def absolute_location(text: str) -> str:
    """An absolute path for what lies on this machine; other URIs (an object store) are left as they are."""
    if text.startswith("file:/"):
        return os.path.abspath(unquote(urlsplit(text).path))
    return text.rstrip("/") if _SCHEME.match(text) else os.path.abspath(os.path.expanduser(text))


def savepoint_location(text: str) -> str:
    """Like Flink's, a savepoint may also be named by the `_metadata` file in it."""
    location = absolute_location(text)
    directory, name = os.path.split(location)
    return directory if name == _METADATA and directory else location


def parent_location(location: str) -> str:
    return absolute_location(location).rpartition("/")[0]


def storage_at(location: str) -> Storage:
    """A plain path or ``file:`` URI is a directory; any other scheme goes to fsspec, which knows most of them."""
    plain = absolute_location(location)
    scheme = _SCHEME.match(plain)
    if scheme is None:
        return LocalStorage(plain)
    from penstock.storage.remote import RemoteStorage  # workers that write to directories need none of it

    try:
        return RemoteStorage.at(plain)
    except ImportError as error:
        raise ConfigurationError(
            f"{location!r}: the file system {scheme[1]!r} needs a package that is not installed ({error}). For S3:"
            " pip install 'penstock[s3]'; others are in the list of implementations of fsspec."
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{location!r} is no place for files: {error}") from error
