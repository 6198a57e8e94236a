"""The file through which the owner of a job or manager, and nobody else, finds and may use its REST interface."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = "rest.json"


@dataclass(frozen=True)
class RestAccess:
    url: str
    token: str
    pid: int
    certificate: str | None = None  # of a server that speaks TLS

    @property
    def page(self) -> str:
        """The address of the web page, as a browser takes it."""
        return f"{self.url}/#token={self.token}" if self.token else f"{self.url}/"


def write_access(directory: Path, access: RestAccess) -> None:
    """The file is never there half written, nor readable for others, not even for a moment."""
    temporary = directory / f"{_FILE}.{os.getpid()}.tmp"
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        json.dump(asdict(access), file)
    os.replace(temporary, directory / _FILE)


def read_access(directory: Path) -> RestAccess | None:
    """None while the job starts, after it has ended, and for jobs of other users."""
    try:
        return RestAccess(**json.loads((directory / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def remove_access(directory: Path, access: RestAccess) -> None:
    """Leaves the file alone if another driver has taken over the job in the meantime."""
    if read_access(directory) == access:
        with contextlib.suppress(FileNotFoundError):
            (directory / _FILE).unlink()
