"""What lookup joins remember of a table outside: rows by key, for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Key = tuple[Any, ...]
Found = list[Any]


@dataclass(frozen=True)
class CacheSettings:
    """At most so many keys, each for so many milliseconds after it was asked for or last used; None: no limit."""

    max_keys: int | None = None
    after_write: int | None = None
    after_access: int | None = None
    missing: bool = True  # also remembers that there is nothing


class LookupCache:
    """The keys that were used least recently go first. It is no state: after a restart it is empty."""

    def __init__(self, settings: CacheSettings) -> None:
        self._settings = settings
        self._entries: dict[Key, tuple[int, int, Found]] = {}  # written, used, rows; in the order of their last use

    def get(self, key: Key, now: int) -> Found | None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        written, used, rows = entry
        if _is_over(written, self._settings.after_write, now) or _is_over(used, self._settings.after_access, now):
            return None
        self._entries[key] = (written, now, rows)
        return rows

    def put(self, key: Key, rows: Found, now: int) -> None:
        self._entries.pop(key, None)
        if rows or self._settings.missing:
            self._entries[key] = (now, now, rows)
        most = self._settings.max_keys
        while most is not None and len(self._entries) > most:
            del self._entries[next(iter(self._entries))]


def _is_over(since: int, limit: int | None, now: int) -> bool:
    return limit is not None and since + limit <= now
