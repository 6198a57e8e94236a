"""The log of a job on the driver: what its functions logged in all workers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from pathlib import Path

from penstock.runtime.report import SubtaskReport


class JobLog:
    """Appends to a file; warnings, and with -v everything, appear on standard error too."""

    def __init__(self, file: Path, verbose: bool = False) -> None:
        self.file = file
        self._shown = logging.NOTSET if verbose else logging.WARNING

    @staticmethod
    def of(home: Path, job_id: str, verbose: bool) -> JobLog:
        return JobLog(home / "logs" / f"{job_id}.log", verbose)

    def write(self, reports: Iterable[SubtaskReport]) -> None:
        """At once, also of an epoch that has failed: this is when it is read."""
        lines = sorted((line for report in reports for line in report.log), key=lambda line: line.created)
        if not lines:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        for line in lines:
            if line.level >= self._shown:
                print(line, file=sys.stderr)
