"""Where checkpoints and savepoints are written: directories that driver and workers reach under the same path."""

from __future__ import annotations

import os
import re

from penstock.common.errors import ConfigurationError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def local_directory(text: str) -> str:
    """The absolute path; with `file:` in front or without."""
    path = re.sub(r"^file:(//)?(?=/)", "", text)
    found = _SCHEME.match(path)
    if found is not None:
        raise ConfigurationError(
            f"{text!r}: checkpoints and savepoints are written with the file system of the machine, which does not "
            f"know {found[1]}:; mount the store, and give the directory under which all workers see it"
        )
    return os.path.abspath(path)
