"""Places given on the command line: the job's driver runs in another directory than the shell."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_METADATA = "_metadata"


def absolute_location(text: str) -> str:
    """An absolute path for what lies on this machine; other URIs (an object store) are left as they are."""
    if text.startswith("file:/"):
        return os.path.abspath(unquote(urlsplit(text).path))
    return text if _SCHEME.match(text) else os.path.abspath(os.path.expanduser(text))


def savepoint_location(text: str) -> str:
    """Like Flink's, a savepoint may also be named by the `_metadata` file in it."""
    location = absolute_location(text)
    directory, name = os.path.split(location)
    return directory if name == _METADATA and directory else location
