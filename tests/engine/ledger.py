"""What functions of local jobs have seen: imported by them, so that all their copies write into one place."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

passed: Counter[tuple[str, Any]] = Counter()
kept: defaultdict[str, list[Any]] = defaultdict(list)


def clear() -> None:
    passed.clear()
    kept.clear()
