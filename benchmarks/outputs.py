"""When results became visible: the commits of a contestant, seen from outside in its output directory."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arrivals import Arrivals

_SPARK_LOG = "_spark_metadata"


@dataclass(frozen=True)
class Commit:
    time: float
    path: Path
    size: int


class OutputWatch:
    """Looks at a directory again and again. Names with a dot in front are not committed yet (Flink, Penstock)."""

    def __init__(self, directory: Path, spark: bool = False) -> None:
        self._directory = directory
        self._spark = spark
        self._commits: dict[str, Commit] = {}
        self.written: list[tuple[float, int]] = []  # time, bytes of all results, committed or not

    def look(self, now: float) -> list[Commit]:
        """The commits since the last look."""
        total, new = 0, []
        for name, size in self._files():
            total += size
            if not self._spark and not name.startswith(".") and name not in self._commits and size:
                self._commits[name] = Commit(now, self._directory / name, size)
                new.append(self._commits[name])
        if self._spark:
            new = self._spark_commits(now)
        if total and (not self.written or self.written[-1][1] != total):
            self.written.append((now, total))
        return new

    def wait(self, seconds: float) -> None:
        """Until it is worth looking again."""
        time.sleep(seconds)

    def commits(self) -> list[Commit]:
        return sorted(self._commits.values(), key=lambda commit: commit.time)

    def unfinished(self) -> list[Path]:
        """What was written but not committed."""
        return [self._directory / name for name, _ in self._files() if name not in self._commits]

    def _files(self) -> list[tuple[str, int]]:
        found = []
        for entry in os.scandir(self._directory):
            if entry.name == _SPARK_LOG or entry.name.endswith(".crc") or "_temporary" in entry.name:
                continue
            try:
                if entry.is_file():
                    found.append((entry.name, entry.stat().st_size))
            except FileNotFoundError:
                continue
        return found

    def _spark_commits(self, now: float) -> list[Commit]:
        """Spark's readers trust its log: a file is committed when the log of its batch is there."""
        new: list[Commit] = []
        log = self._directory / _SPARK_LOG
        if not log.is_dir():
            return new
        for entry in sorted(os.scandir(log), key=lambda entry: entry.name):
            if entry.name in self._commits or not re.fullmatch(r"\d+(\.compact)?", entry.name):
                continue
            self._commits[entry.name] = Commit(now, log / entry.name, 0)
            for line in Path(entry.path).read_text().splitlines()[1:]:
                fields = json.loads(line)
                name = Path(fields["path"]).name
                if name not in self._commits and fields["size"]:
                    self._commits[name] = Commit(now, self._directory / name, fields["size"])
                    new.append(self._commits[name])
        return new

    def result_commits(self) -> list[Commit]:
        return [commit for commit in self.commits() if commit.size]


class LiveCommits:
    """As OutputWatch, told by the kernel: who commits often is not punished by a look at ever more files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._arrivals = Arrivals(directory)
        self._known: set[str] = set()

    def look(self, now: float) -> list[Commit]:
        new = []
        for name in self._arrivals.look():
            path = self._directory / name
            if name.startswith(".") or name in self._known or not (size := path.stat().st_size):
                continue
            self._known.add(name)
            new.append(Commit(now, path, size))
        return new

    def wait(self, seconds: float) -> None:
        self._arrivals.wait(seconds)


def records_per_second(commits: list[Commit], records: int) -> float | None:
    """Records after the first commit by the time from the first to the last.

    Bytes of results stand for records: lines of one case are nearly equally long. None when the first commit holds half
    of the results or more: what is left then says nothing about a steady rate.
    """
    if not commits or commits[-1].time == commits[0].time:
        return None
    first, last = commits[0].time, commits[-1].time
    total = sum(commit.size for commit in commits)
    at_first = sum(commit.size for commit in commits if commit.time == first)
    if at_first * 2 >= total:
        return None
    return records * (1 - at_first / total) / (last - first)
