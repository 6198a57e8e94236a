"""Rows that are hashes in Redis, by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import PrimitiveArrayTypeInfo, RowTypeInfo
from penstock.common.types import Row
from penstock.connectors.jdbc.values import RowMaker
from penstock.connectors.reaching import reach
from penstock.connectors.redis.options import RedisOptions
from penstock.connectors.redis.sink import redis_key
from penstock.functions.lookup import LookupFunction

__all__ = ["RedisLookupFunction"]

_RETRIES = 3


class RedisLookupFunction(LookupFunction):
    """The hash under the values of a key, as one row; what RedisSink has written with the same key and prefix."""

    def __init__(self, options: RedisOptions, row_type: RowTypeInfo, key: Sequence[str], prefix: str = "") -> None:
        names = row_type.get_field_names()
        if not key or any(name not in names for name in key):
            raise ProgramError(f"The key {list(key)} of a lookup must be among the columns {names}.")
        self._options = options
        self._row_type = row_type
        self._prefix = prefix
        self._client: Any = None

    def open(self) -> None:
        self._client = self._options.connect()
        self._rows = RowMaker(self._row_type)
        self._raw = [isinstance(each, PrimitiveArrayTypeInfo) for each in self._row_type.get_field_types()]

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Row]]:
        names = [None if None in key else redis_key(self._prefix, list(key)) for key in keys]
        wanted = list(dict.fromkeys(name for name in names if name is not None))

        def ask() -> list[Any]:
            with self._client.pipeline(transaction=False) as pipeline:
                for name in wanted:
                    pipeline.hgetall(name)
                found: list[Any] = pipeline.execute()
                return found

        options = self._options
        hashes = reach(str(options), ask, options.is_away, _RETRIES, (options.password,))
        found = dict(zip(wanted, hashes, strict=True))
        return [[self._row(found[name])] if name is not None and found[name] else [] for name in names]

    def _row(self, fields: dict[bytes, bytes]) -> Row:
        values = [fields.get(name.encode()) for name in self._row_type.get_field_names()]
        return self._rows.row(
            [value if value is None or raw else value.decode() for value, raw in zip(values, self._raw, strict=True)]
        )

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
