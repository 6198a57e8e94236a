"""Runs the queries of Nexmark one after the other in one process of a contestant, and measures each from outside.

The rate of a query is all events by the time from its submission to its end, with everything that belongs to it:
planning, start of the job, reading, writing, the last commit. The process itself is warm: the first query runs once
before it counts. What a contestant finds is compared with what Flink SQL found on the same files; Flink's digests
are kept beside these.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import nexmark_inputs, settings
from benchmarks.contestants import is_flink, launch
from benchmarks.digests import Digest, digest_of_lines
from benchmarks.process_tree import ProcessTree
from benchmarks.rows import Measurement
from benchmarks.throughput import log_tail, workplace

CASE = "nexmark"
_LOOK_SECONDS = 0.1
_DIGESTS = "digests.json"
_INSERTED = '{"before":null,"after":', ',"op":"c"}'
_DELETED = '{"before":', ',"after":null,"op":"d"}'


@dataclass(frozen=True)
class Finished:
    query: str
    seconds: float | None
    cpu: float
    failure: str = ""


def case_of(query: str) -> str:
    return f"{CASE} {query}"


def prepare(scale: float) -> Path:
    directory = settings.DATA / f"{CASE}-{scale:g}"
    nexmark_inputs.write(directory, _events(scale))
    return directory


def _events(scale: float) -> int:
    return int(settings.CASES[CASE].records * scale)


def queries_for(contestant: str) -> tuple[str, ...]:
    """PyFlink takes part where Python is called; the rest is the JVM's in both of its modes."""
    if contestant.startswith("pyflink"):
        return settings.NEXMARK_PYTHON
    if contestant.startswith("flink"):
        return settings.NEXMARK
    return settings.NEXMARK + settings.NEXMARK_PYTHON


def run_nexmark(contestant: str, scale: float, queries: tuple[str, ...] | None = None) -> list[Measurement]:
    """Those with Python in a process of their own: what others have written to disk before is no cost of theirs, and
    PyFlink runs no others."""
    chosen = [query for query in queries or settings.NEXMARK_QUERIES if query in queries_for(contestant)]
    of_python = [query for query in chosen if query in settings.NEXMARK_PYTHON]
    others = [query for query in chosen if query not in of_python]
    return [row for group in (others, of_python) if group for row in _run_group(contestant, scale, group)]


def _run_group(contestant: str, scale: float, chosen: list[str]) -> list[Measurement]:
    data, events = prepare(scale), _events(scale)
    found: list[Measurement] = []
    with workplace(f"{CASE}-{contestant}") as (work, sink, log):
        start = launch(contestant, CASE, data, sink, work, program=",".join(chosen))
        tree = ProcessTree(start.command, start.environment, log, work)
        try:
            ended = list(_finished(tree, log))
        finally:
            tree.kill()
        # Not before all have ended: to read the results of one query takes a core from the next one.
        for finished in ended:
            found += _measured(contestant, finished, sink / finished.query, data, events)
        measured = {row.case for row in found}
        missing = [case_of(query) for query in chosen if case_of(query) not in measured]
        found += [Measurement(case, contestant, "rate", None, "records/s", "failed", log_tail(log)) for case in missing]
    return found


def _finished(tree: ProcessTree, log: Path) -> Iterator[Finished]:
    """The queries as they end, until the process does or one takes too long."""
    seen, cpu_before, begun = 0, 0.0, time.time()
    while True:
        ended = tree.exit_code is not None
        tree.sample()
        lines = log.read_text(errors="replace").splitlines(True)
        while seen < len(lines) and (lines[seen].endswith("\n") or ended):
            told = _told(lines[seen])
            seen += 1
            if told is None:
                continue
            begun = time.time()
            if "seconds" in told or "failed" in told:
                yield Finished(
                    told["query"], told.get("seconds"), tree.cpu_seconds - cpu_before, told.get("failed", "")
                )
            cpu_before = tree.cpu_seconds
        if ended or time.time() - begun > settings.NEXMARK_SECONDS:
            return
        time.sleep(_LOOK_SECONDS)


def _told(line: str) -> dict[str, Any] | None:
    if not line.startswith('{"query"'):
        return None
    told: dict[str, Any] = json.loads(line)
    return told


def _measured(contestant: str, finished: Finished, results: Path, data: Path, events: int) -> list[Measurement]:
    case = case_of(finished.query)
    if finished.seconds is None:
        return [Measurement(case, contestant, "rate", None, "records/s", "failed", finished.failure)]
    status, note = _checked(contestant, finished.query, digest_of_results(results), data)
    return [
        Measurement(case, contestant, "rate", events / finished.seconds, "records/s", status, note),
        Measurement(case, contestant, "wall", finished.seconds, "s", "ok"),
        Measurement(case, contestant, "cpu", finished.cpu, "s", "ok"),
    ]


def _checked(contestant: str, query: str, digest: Digest, data: Path) -> tuple[str, str]:
    path = data / _DIGESTS
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    if is_flink(contestant):
        path.write_text(json.dumps({**known, query: digest.text()}, indent=1))
        return "ok", digest.text()
    if query not in known:
        return "ok", f"{digest.text()}, not compared: Flink has not run on these files"
    if digest.text() == known[query]:
        return "ok", digest.text()
    if query in settings.NEXMARK_DIFFERENCES:
        return "ok", settings.NEXMARK_DIFFERENCES[query]
    return "wrong", f"{digest.text()} instead of {known[query]}"


def digest_of_results(directory: Path) -> Digest:
    """Of the table that the files of a query come to."""
    files = [path for path in directory.rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]
    added, removed = digest_of_lines(_rows(files, *_INSERTED)), digest_of_lines(_rows(files, *_DELETED))
    return Digest(added.lines - removed.lines, (added.total - removed.total) % 2**64)


def _rows(files: list[Path], before: str, after: str) -> Iterator[str]:
    """The rows of one kind of change; lines that are no changes are insertions."""
    for path in files:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                line = line.rstrip("\n")
                if not line.startswith('{"before":'):
                    if before is _INSERTED[0]:
                        yield line
                elif line.startswith(before) and line.endswith(after):
                    yield line[len(before) : -len(after)]
