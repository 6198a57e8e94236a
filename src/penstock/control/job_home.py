"""Where jobs keep their files: one directory per job under PENSTOCK_HOME."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def penstock_home(configured: str | None = None) -> Path:
    """The configured home, else $PENSTOCK_HOME, else ~/.penstock: never a directory that the system cleans."""
    return Path(configured or os.environ.get("PENSTOCK_HOME") or Path.home() / ".penstock").expanduser()


class JobHome:
    """The files of one job."""

    def __init__(self, home: Path, job_id: str) -> None:
        self.job_id = job_id
        self.path = home / "jobs" / job_id
        self.path.mkdir(parents=True, exist_ok=True)

    @property
    def spark_checkpoint(self) -> Path:
        return self.path / "spark"

    @property
    def epochs(self) -> Path:
        return self.path / "epochs"

    def source_directory(self, uid: str) -> Path:
        return self.path / "sources" / uid

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
