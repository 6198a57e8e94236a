"""Flink's options of lookups, which all connectors that look up keys share."""

from __future__ import annotations

import datetime

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.runtime.table.lookup_cache import CacheSettings
from penstock.runtime.table.whole_table import Reloads
from penstock.table.connectors.base import ConnectorTable

LOOKUP_OPTIONS = (
    "lookup.cache", "lookup.max-retries", "lookup.partial-cache.max-rows", "lookup.partial-cache.expire-after-write",
    "lookup.partial-cache.expire-after-access", "lookup.partial-cache.cache-missing-key",
    "lookup.cache.max-rows", "lookup.cache.ttl", "lookup.cache.caching-missing-key",
)  # fmt: skip
FULL_CACHE_OPTIONS = (
    "lookup.full-cache.reload-strategy", "lookup.full-cache.periodic-reload.interval",
    "lookup.full-cache.periodic-reload.schedule-mode", "lookup.full-cache.timed-reload.iso-time",
    "lookup.full-cache.timed-reload.interval-in-days",
)  # fmt: skip


def cache_of(table: ConnectorTable, reads_all: bool = False) -> CacheSettings | Reloads | None:
    """The cache that the options ask for; the last three are the names of older versions of Flink."""
    old_rows, old_ttl = table.number("lookup.cache.max-rows", -1), table.millis("lookup.cache.ttl", 0)
    default = "partial" if old_rows >= 0 and old_ttl else "none"
    kind = table.chosen("lookup.cache", ("none", "partial", "full"), default)
    if kind == "full" and not reads_all:
        raise NotSupportedError(
            f"'lookup.cache' = 'FULL' of {table.name}: this connector does not read whole tables. Use 'PARTIAL', which"
            " keeps the keys that are used."
        )
    if kind == "full":
        return _reloads(table)
    if kind == "none":
        return None
    most = table.number("lookup.partial-cache.max-rows", old_rows)
    return CacheSettings(
        most if most >= 0 else None,
        table.millis("lookup.partial-cache.expire-after-write", old_ttl or None),
        table.millis("lookup.partial-cache.expire-after-access"),
        table.boolean(
            "lookup.partial-cache.cache-missing-key", table.boolean("lookup.cache.caching-missing-key", True)
        ),
    )


def _reloads(table: ConnectorTable) -> Reloads:
    strategy = table.chosen("lookup.full-cache.reload-strategy", ("periodic", "timed"), "periodic")
    if strategy == "timed":
        text = table.text("lookup.full-cache.timed-reload.iso-time")
        try:
            at = datetime.time.fromisoformat(text)
        except ValueError:
            raise ProgramError(
                f"'lookup.full-cache.timed-reload.iso-time' of {table.name} must be a time such as 10:15, 10:15Z or"
                f" 10:15+07:00, not {text!r}."
            ) from None
        return Reloads(at=at, days=table.number("lookup.full-cache.timed-reload.interval-in-days", 1))
    interval = table.millis("lookup.full-cache.periodic-reload.interval")
    if interval is None:
        raise ProgramError(
            f"'lookup.cache' = 'FULL' of {table.name} needs 'lookup.full-cache.periodic-reload.interval', as '10 min'."
        )
    mode = table.chosen("lookup.full-cache.periodic-reload.schedule-mode", ("fixed_delay", "fixed_rate"), "fixed_delay")
    return Reloads(interval, fixed_rate=mode == "fixed_rate")
