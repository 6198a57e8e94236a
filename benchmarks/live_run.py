"""Runs an unbounded job: files are handed to it while it runs, and its commits are read as they appear."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import settings
from benchmarks.contestants import launch
from benchmarks.outputs import Commit, LiveCommits, OutputWatch
from benchmarks.process_tree import ProcessTree

JOB_ID = "be" * 16
NO_MARK = -1  # this and all below: of records that are not followed
_LOOK_SECONDS = 0.01
_SAMPLE_SECONDS = 0.5
Result = tuple[float, int, int, int]  # time of the commit, key, version, mark


class LiveRun:
    def __init__(self, case: str, contestant: str, work: Path, sink: Path, log: Path) -> None:
        self._case, self._contestant, self._work, self._sink, self._log = case, contestant, work, sink, log
        self.source = work / "source"
        self._outside = work / "outside"
        self.source.mkdir()
        self._outside.mkdir()
        self._numbers = itertools.count()
        self._watch = OutputWatch(sink, spark=True) if contestant == "spark" else LiveCommits(sink)
        self._sampled = 0.0
        self.results: list[Result] = []
        self.state = StateWatch(work / ("home/jobs" if contestant.startswith("penstock") else "checkpoints"))

    def start(self, **options: str) -> None:
        job_id = JOB_ID if self._contestant.startswith("penstock") else None
        start = launch(self._contestant, self._case, self.source, self._sink, self._work, job_id, **options)
        self.tree = ProcessTree(start.command, start.environment, self._log, self._work)

    def hand_over(self, lines: Iterable[str]) -> None:
        """A file appears at once and complete."""
        name = f"{next(self._numbers):06d}.txt"
        (self._outside / name).write_text("".join(f"{line}\n" for line in lines))
        os.rename(self._outside / name, self.source / name)

    def warm_up(self) -> bool:
        """One record through the whole job."""
        self.hand_over([f"-1,{NO_MARK}"])
        return self.wait(lambda: bool(self.results), settings.START_SECONDS)

    def look(self) -> list[Result]:
        """The results committed since the last look."""
        now = time.time()
        if now - self._sampled > _SAMPLE_SECONDS:
            self._sampled = now
            self.tree.sample()
            self.state.look()
        new = [result for commit in self._watch.look(now) for result in _results_of(commit)]
        self.results += new
        return new

    def wait(self, done: Callable[[], bool], seconds: float) -> bool:
        """Looks until it is done; False when the time is up or the job has ended."""
        end = time.time() + seconds
        while not done():
            if time.time() > end or self.tree.exit_code is not None:
                return False
            self.look()
            self._watch.wait(_LOOK_SECONDS)
        return True


def _results_of(commit: Commit) -> list[Result]:
    found = []
    for line in commit.path.read_text().splitlines():
        key, version, mark = line.split(",")
        found.append((commit.time, int(key), int(version), int(mark)))
    return found


class StateWatch:
    """How many bytes of state have been written below a directory, also to files that are gone again, in how many
    checkpoints: epochs that Spark has committed, or Flink's complete ones."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sizes: dict[str, int] = {}
        self._complete: set[str] = set()
        self.on_disk = 0

    def look(self) -> None:
        self.on_disk = 0
        for folder, _, names in os.walk(self._directory):
            if folder.endswith("/spark/commits"):
                self._complete.update(f"{folder}/{name}" for name in names if name.isdigit())
            if not any(part in folder for part in ("/state", "/epochs", "/chk-", "/shared")):
                continue
            if "_metadata" in names:
                self._complete.add(folder)
            for name in names:
                path = os.path.join(folder, name)
                try:
                    size = os.stat(path).st_size
                except FileNotFoundError:
                    continue
                self._sizes[path] = max(self._sizes.get(path, 0), size)
                self.on_disk += size

    @property
    def checkpoints(self) -> int:
        return len(self._complete)

    @property
    def written(self) -> int:
        """Without what belongs to a checkpoint that Flink has not completed yet."""
        return sum(
            size for path, size in self._sizes.items() if "/chk-" not in path or os.path.dirname(path) in self._complete
        )


class Feeder:
    """Hands over records at a steady rate: record n is due at start + n / rate, and its line is made by `line`."""

    def __init__(self, run: LiveRun, per_second: int, line: Callable[[int, int], str]) -> None:
        self._run, self._rate, self._line = run, per_second, line
        self._stop = threading.Event()
        self.started = time.time()
        self.handed_over = 0
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def scheduled_ms(self, number: int) -> int:
        return int((self.started + number / self._rate) * 1000)

    def _feed(self) -> None:
        while not self._stop.wait(settings.LATENCY_FILE_MS / 1000):
            due = int((time.time() - self.started) * self._rate)
            lines = [self._line(number, self.scheduled_ms(number)) for number in range(self.handed_over, due)]
            if lines:
                self._run.hand_over(lines)
            self.handed_over = due

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
