"""Which storage a path or URI means."""

from __future__ import annotations

import re

from penstock.common.errors import ConfigurationError
from penstock.storage.base import Storage
from penstock.storage.local import LocalStorage

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def storage_at(location: str) -> Storage:
    """A plain path or ``file:`` URI is a directory; any other scheme goes to fsspec, which knows most of them."""
    plain = re.sub(r"^file:(//)?(?=/)", "", location)
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
    except ValueError as error:
        raise ConfigurationError(f"{location!r} is no place for files: {error}") from error
