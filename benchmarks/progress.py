"""How far a bounded run is: by Flink's own counters, Spark's log of commits, or the results written so far."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Protocol

from benchmarks import settings
from benchmarks.outputs import OutputWatch

Point = tuple[float, float]  # time, records done by then

_POLL_SECONDS = 0.4
_ANSWER_SECONDS = 1.0
# The last vertex of the job that still sees every record, so that a partial rate need not wait for windows to close.
_COUNTED_VERTEX = {"udf_map": 0, "three_hops": 2}


class Progress(Protocol):
    points: list[Point]

    def look(self, now: float) -> None: ...


class WrittenResults:
    """Bytes of results stand for records: lines of one case are nearly equally long."""

    def __init__(self, watch: OutputWatch, bytes_per_record: float) -> None:
        self._watch, self._bytes = watch, bytes_per_record
        self.points: list[Point] = []

    def look(self, now: float) -> None:
        for time, size in self._watch.written[len(self.points) :]:
            self.points.append((time, size / self._bytes))


class SparkCommits:
    """Spark takes a fixed number of equal files into each batch, and names each batch that it has committed."""

    def __init__(self, checkpoint: Path, records_per_batch: float) -> None:
        self._commits, self._records = checkpoint / "commits", records_per_batch
        self.points: list[Point] = []

    def look(self, now: float) -> None:
        if not self._commits.is_dir():
            return
        done = sum(name.isdigit() for name in os.listdir(self._commits)) * self._records
        if done and (not self.points or done > self.points[-1][1]):
            self.points.append((now, done))


class FlinkCounter:
    """Asks Flink's REST server how many records the counted vertex has read."""

    def __init__(self, port: int, case: str, contestant: str) -> None:
        self._address = f"http://localhost:{port}/jobs"
        # Flink SQL aggregates before its exchange: there only the source sees all records.
        self._vertex = 0 if contestant.startswith("flink_sql") else _COUNTED_VERTEX.get(case, 1)
        self._job: str | None = None
        self._next = 0.0
        self.points: list[Point] = []

    def look(self, now: float) -> None:
        if now < self._next:
            return
        self._next = now + _POLL_SECONDS
        try:
            count = self._count()
        except (OSError, ValueError, LookupError):  # not there yet, or not any more
            return
        if count and (not self.points or count > self.points[-1][1]):
            self.points.append((now, count))

    def _count(self) -> int:
        if self._job is None:
            self._job = self._get("/overview")["jobs"][0]["jid"]
        vertex = self._get(f"/{self._job}")["vertices"][self._vertex]
        return int(vertex["metrics"]["read-records"])

    def _get(self, path: str):  # type: ignore[no-untyped-def]
        with urllib.request.urlopen(self._address + path, timeout=_ANSWER_SECONDS) as answer:
            return json.load(answer)


def deadline(points: list[Point], started: float, records: int) -> float:
    """When a run is cut off, as things stand. Who will be done soon may finish."""
    if not points:
        return started + settings.START_SECONDS
    first, (_, done) = points[0][0], points[-1]
    if done < settings.NEARLY_DONE * records:
        return first + settings.WARM_UP_SECONDS + settings.RUN_SECONDS
    return first + settings.FINISH_SECONDS


def partial_rate(points: list[Point]) -> float | None:
    """The rate behind the warm-up, between two moments at which progress was seen; None when it was not seen twice."""
    if not points:
        return None
    warm = points[0][0] + settings.WARM_UP_SECONDS
    base = max((point for point in points if point[0] <= warm), default=points[0])
    time, done = points[-1]
    return (done - base[1]) / (time - base[0]) if time > base[0] else None
