"""The bare loop: what one Python process does with the same records and no engine, durability or second core.

python loop.py CASE INPUT OUTPUT
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import IO


def udf_map(lines: IO[str]) -> Iterator[str]:
    for line in lines:
        record = json.loads(line)
        record["price"] *= 2
        yield json.dumps(record, separators=(",", ":"))


def keyed_count(lines: IO[str]) -> Iterator[str]:
    counts: dict[int, int] = {}
    for line in lines:
        key = int(line.split(",")[0])
        count = counts.get(key, 0) + 1
        counts[key] = count
        yield f"{key},{count}"


def tumble(lines: IO[str]) -> Iterator[str]:
    """Closes a window when the greatest time seen is a second past its end."""
    windows: dict[int, dict[int, tuple[int, int]]] = {}
    greatest = 0
    for line in lines:
        first, second, third = line.split(",")
        key, time = int(first), int(second)
        window = windows.setdefault(time // 1000, {})
        count, total = window.get(key, (0, 0))
        window[key] = count + 1, total + int(third)
        if time > greatest:
            greatest = time
            for closed in [start for start in windows if (start + 2) * 1000 <= greatest]:
                yield from (f"{key},{count},{total}" for key, (count, total) in windows.pop(closed).items())
    for window in windows.values():
        yield from (f"{key},{count},{total}" for key, (count, total) in window.items())


CASES = {"udf_map": udf_map, "keyed_count": keyed_count, "tumble": tumble}


def main(case: str, source_path: str, sink_path: str) -> None:
    with open(source_path) as lines, open(f"{sink_path}/part-0", "w") as out:
        out.writelines(f"{line}\n" for line in CASES[case](lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
