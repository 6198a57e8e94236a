"""Seeded inputs, made once per case and scale, and what the right results are: computed with numpy, by no contestant.

The same records lie there in three cuts, because file sources differ: `all.txt` (Penstock, loop, DuckDB), two files
with every second line each (Flink gives whole files to subtasks; each then sees all of the time span in order), and
some dozens or hundreds of consecutive slices (Spark, and Penstock's CSV reader, take whole files into an epoch), once
with the late record that Spark needs.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks import settings
from benchmarks.contestants import is_flink
from benchmarks.digests import Digest, hashes_of_lines, is_part_of, result_digest

Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
_FLUSH_AFTER_MS = 3_600_000
_HASHES = "hashes.npy"  # of the lines of the right result, sorted


class CaseInput:
    """The files of one case at one scale, and the digest of its right result."""

    def __init__(self, case: str, directory: Path) -> None:
        self._case = case
        self.directory = directory
        truth = json.loads((directory / "truth.json").read_text())
        self.records: int = truth["records"]
        self.result_bytes: int = truth["result_bytes"]
        self.digest = Digest(truth["lines"], int(truth["total"]))

    def path_for(self, contestant: str) -> Path:
        if is_flink(contestant):
            return self.directory / "flink"
        if contestant.startswith("penstock_sql") or (contestant, self._case) == ("penstock_builtin", "keyed_count"):
            return self.directory / "slices"  # CSV files are read whole, by whatever reads them
        return self.directory / ("spark" if contestant == "spark" else "all.txt")

    def holds(self, lines: Iterable[str]) -> bool:
        """Whether these can be a part of the right result: each line is there, as often or more often.

        Running totals depend on the order in which records meet, so that those of three_hops say nothing.
        """
        if self._case == "three_hops":
            return True
        return is_part_of(hashes_of_lines(list(lines)), np.load(self.directory / _HASHES))


def prepare(case: str, scale: float) -> CaseInput:
    definition = settings.CASES[case]
    records = int(definition.records * scale)
    directory = settings.DATA / f"{case}-{records}"  # what settings.py has changed is made anew
    if not all((directory / name).exists() for name in (_HASHES, "truth.json", "slices")):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        random = np.random.default_rng(settings.SEED)
        keys = max(10, int(definition.keys * scale))
        lines, results, flush = _MAKERS[case](random, records, keys)
        _write_cuts(directory, lines, flush, spark_files(case))
        np.save(directory / _HASHES, np.sort(hashes_of_lines(results)))
        digest = result_digest(case, results)
        truth = {"records": len(lines), "lines": digest.lines, "total": str(digest.total)}
        truth["result_bytes"] = sum(map(len, results)) + len(results)
        (directory / "truth.json").write_text(json.dumps(truth))
    return CaseInput(case, directory)


def spark_files(case: str) -> int:
    return settings.SPARK_SMALL_FILES if case in settings.SPARK_SMALL_CASES else settings.SPARK_FILES


def _write_cuts(directory: Path, lines: list[str], flush: str | None, files: int) -> None:
    (directory / "flink").mkdir()
    (directory / "spark").mkdir()
    (directory / "slices").mkdir()
    _write(directory / "all.txt", lines)
    for part in range(settings.PARALLELISM):
        _write(directory / "flink" / f"part-{part}.txt", lines[part :: settings.PARALLELISM])
    slices = np.linspace(0, len(lines), files + 1).astype(int)
    for number, (start, end) in enumerate(zip(slices, slices[1:], strict=False)):
        _write(directory / "slices" / f"{number:03d}.txt", lines[start:end])
        os.link(directory / "slices" / f"{number:03d}.txt", directory / "spark" / f"{number:03d}.txt")
    if flush is not None:  # Spark closes the last windows only when a later record comes
        _write(directory / "spark" / f"{files:03d}.txt", [flush])


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def _json_lines(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], None]:
    prices = random.integers(100, 1000, records)
    users = random.integers(10_000, 100_000, records)
    filling = "x" * (settings.JSON_LINE_BYTES - 51)
    lines = [
        f'{{"id":{number:08d},"user":{user},"price":{price},"note":"{filling}"}}'
        for number, user, price in zip(range(10_000_000, 10_000_000 + records), users, prices, strict=True)
    ]
    changed = prices * 2
    results = [
        f'{{"id":{number:08d},"user":{user},"price":{price},"note":"{filling}"}}'
        for number, user, price in zip(range(10_000_000, 10_000_000 + records), users, changed, strict=True)
    ]
    return lines, results, None


def _occurrence(keys: Ints) -> Ints:
    """How often each element's value has been there up to and with it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    run = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    counts = np.empty(len(keys), dtype=np.int64)
    counts[order] = run + 1
    return counts


def _count_lines(keys: Ints) -> tuple[list[str], list[str], None]:
    numbers, counts = keys.tolist(), _occurrence(keys).tolist()
    return (
        [f"{key},1" for key in numbers],
        [f"{key},{count}" for key, count in zip(numbers, counts, strict=True)],
        None,
    )


def _uniform_keys(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], None]:
    return _count_lines(random.integers(0, keys, records))


def _skewed_keys(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], None]:
    weights = 1 / np.arange(1, keys + 1) ** settings.ZIPF
    return _count_lines(random.choice(keys, records, p=weights / weights.sum()))


def _disordered(random: np.random.Generator, times: Ints) -> Ints:
    """An order of arrival in which nobody comes DISORDER_MS or more behind a later record."""
    return np.argsort(times + random.integers(0, settings.DISORDER_MS, len(times)), kind="stable")


def _groups(columns: list[Ints], amounts: Ints) -> list[tuple[int, ...]]:
    """(the columns' values, count, sum) per distinct combination of the columns."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    changes = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    starts = np.flatnonzero(np.r_[True, changes])
    sums = np.add.reduceat(amounts[order], starts)
    counts = np.diff(np.r_[starts, len(order)])
    return list(zip(*(column[starts].tolist() for column in ordered), counts.tolist(), sums.tolist(), strict=True))


def _event_lines(random: np.random.Generator, keys: Ints, times: Ints, amounts: Ints) -> tuple[list[str], str]:
    order = _disordered(random, times)
    lines = [
        f"{key},{time},{amount}"
        for key, time, amount in zip(keys[order].tolist(), times[order].tolist(), amounts[order].tolist(), strict=True)
    ]
    return lines, f"-1,{int(times.max()) + _FLUSH_AFTER_MS},0"


def _events(random: np.random.Generator, records: int, keys: int) -> tuple[Ints, Ints, Ints]:
    """The rate of events follows the number of keys, so that the scale does not change what a window holds."""
    rate = settings.EVENTS_PER_SECOND * keys // settings.CASES["tumble"].keys
    times = 1_700_000_000_000 + np.arange(records, dtype=np.int64) * 1000 // max(1, rate)
    return random.integers(0, keys, records), times, random.integers(1, 1000, records)


def _tumbling(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], str]:
    of_key, times, amounts = _events(random, records, keys)
    groups = _groups([of_key, times // 1000], amounts)
    lines, flush = _event_lines(random, of_key, times, amounts)
    return lines, [f"{key},{count},{total}" for key, _, count, total in groups], flush


def _sliding(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], str]:
    of_key, times, amounts = _events(random, records, keys)
    windows = np.concatenate([times // 1000 - back for back in range(4)])
    groups = _groups([np.tile(of_key, 4), windows], np.tile(amounts, 4))
    lines, flush = _event_lines(random, of_key, times, amounts)
    return lines, [f"{key},{count},{total}" for key, _, count, total in groups], flush


def _sessions(random: np.random.Generator, records: int, users: int) -> tuple[list[str], list[str], str]:
    span = records // users * settings.SESSION_MEAN_PAUSE_MS
    # Multiples of 3 ms: no pause is exactly as long as the gap, where engines differ.
    times = np.sort(1_700_000_000_001 + random.integers(0, span // 3, records) * 3)
    of_user, amounts = random.integers(0, users, records), random.integers(1, 1000, records)
    order = np.lexsort([times, of_user])
    new = np.r_[True, (np.diff(of_user[order]) != 0) | (np.diff(times[order]) > settings.SESSION_GAP_MS)]
    session = np.empty(records, dtype=np.int64)
    session[order] = np.cumsum(new)
    groups = _groups([of_user, session], amounts)
    lines, flush = _event_lines(random, of_user, times, amounts)
    return lines, [f"{user},{count},{total}" for user, _, count, total in groups], flush


def _patterns(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], str]:
    """A small amount and a large one right after it, within a time that no two events are exactly apart."""
    times = 1_700_000_000_000 + np.arange(records, dtype=np.int64) * 7
    of_key, amounts = random.integers(0, keys, records), random.integers(1, 1000, records)
    order = np.lexsort([times, of_key])
    key, moment, amount = of_key[order], times[order], amounts[order]
    small, large = amount < settings.CEP_SMALL, amount > settings.CEP_LARGE
    near = (np.diff(key) == 0) & (np.diff(moment) < settings.CEP_WITHIN_MS)
    found = np.flatnonzero(small[:-1] & large[1:] & near)
    lines, flush = _event_lines(random, of_key, times, amounts)
    pairs = zip(key[found].tolist(), amount[found].tolist(), amount[found + 1].tolist(), strict=True)
    return lines, [f"{k},{first},{second}" for k, first, second in pairs], flush


def _hops(random: np.random.Generator, records: int, keys: int) -> tuple[list[str], list[str], str]:
    """A running count and total of windows per region, in one of the orders in which they may come."""
    of_key, times, amounts = _events(random, records, keys)
    running: dict[int, tuple[int, int]] = {}
    results = []
    for group, _, _, total in _groups([of_key % settings.HOP_GROUPS, times // 1000], amounts):
        region = group % settings.HOP_REGIONS
        count, so_far = running.get(region, (0, 0))
        running[region] = count + 1, so_far + total
        results.append(f"{region},{count + 1},{so_far + total}")
    lines, flush = _event_lines(random, of_key, times, amounts)
    return lines, results, flush


_MAKERS = {
    "udf_map": _json_lines,
    "keyed_count": _uniform_keys,
    "keyed_count_skew": _skewed_keys,
    "tumble": _tumbling,
    "slide": _sliding,
    "session": _sessions,
    "three_hops": _hops,
    "cep": _patterns,
}
