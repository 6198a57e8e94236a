"""Flink's options of lookups, which all connectors that look up keys share."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError
from penstock.runtime.table.lookup_cache import CacheSettings
from penstock.table.connectors.base import ConnectorTable

LOOKUP_OPTIONS = (
    "lookup.cache", "lookup.max-retries", "lookup.partial-cache.max-rows", "lookup.partial-cache.expire-after-write",
    "lookup.partial-cache.expire-after-access", "lookup.partial-cache.cache-missing-key",
    "lookup.cache.max-rows", "lookup.cache.ttl", "lookup.cache.caching-missing-key",
)  # fmt: skip


def cache_of(table: ConnectorTable) -> CacheSettings | None:
    """The cache that the options ask for; the last three are the names of older versions of Flink."""
    old_rows, old_ttl = table.number("lookup.cache.max-rows", -1), table.millis("lookup.cache.ttl", 0)
    default = "partial" if old_rows >= 0 and old_ttl else "none"
    kind = table.chosen("lookup.cache", ("none", "partial", "full"), default)
    if kind == "full":
        raise NotSupportedError(
            f"'lookup.cache' = 'FULL' of {table.name} is not there: use 'PARTIAL', which keeps the keys that are used."
        )
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
