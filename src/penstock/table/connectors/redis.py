"""Tables of hashes in Redis: looked up and written by their primary key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.errors import ProgramError
from penstock.connectors.redis.lookup import RedisLookupFunction
from penstock.connectors.redis.options import RedisOptions
from penstock.connectors.redis.sink import RedisSink
from penstock.functions.lookup import LookupFunction
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableRowsByKey, TableSink
from penstock.table.connectors.jdbc import row_type_of, written_type_of
from penstock.table.connectors.lookup_options import LOOKUP_OPTIONS, cache_of


class RedisConnector(TableConnector):
    """A row is the hash under `key-prefix` and the values of its primary key, with a field for each column."""

    name = "redis"
    looks_up = looks_up_primary_keys = True
    options = (
        "hostname", "port", "database", "username", "password", "tls", "key-prefix", "sink.max-retries",
        "sink.parallelism", *(option for option in LOOKUP_OPTIONS if option != "lookup.max-retries"),
    )  # fmt: skip

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD"

    def by_key(self, table: ConnectorTable) -> bool:
        return True

    def lookup(self, table: ConnectorTable, key: list[str]) -> TableRowsByKey:
        columns = _key(table)
        if sorted(key) != sorted(columns):
            raise ProgramError(
                f"Redis finds rows of {table.name} by their whole PRIMARY KEY: compare {', '.join(columns)} by =,"
                f" not only {', '.join(key)}."
            )
        function = RedisLookupFunction(_address(table), row_type_of(table), columns, _prefix(table))
        places = [key.index(column) for column in columns]
        return TableRowsByKey(_InOrder(function, places), cache_of(table))

    def sink(self, table: ConnectorTable) -> TableSink:
        retries = table.number("sink.max-retries", 3)
        sink = RedisSink(_address(table), key=_key(table), prefix=_prefix(table), max_retries=retries)
        return TableSink(sink, table.name, table.number("sink.parallelism", 0) or None, written_type_of(table))


class _InOrder(LookupFunction):
    """Keys as the condition has them, in the order in which they make a name."""

    def __init__(self, function: LookupFunction, places: list[int]) -> None:
        self._function, self._places = function, places

    def open(self) -> None:
        self._function.open()

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        return self._function.lookup([tuple(key[place] for place in self._places) for key in keys])

    def close(self) -> None:
        self._function.close()


def _key(table: ConnectorTable) -> list[str]:
    if not table.primary_key:
        raise ProgramError(f"The table {table.name} is in Redis, and so needs a PRIMARY KEY: it names the hashes.")
    return list(table.primary_key)


def _prefix(table: ConnectorTable) -> str:
    return table.text("key-prefix", "")


def _address(table: ConnectorTable) -> RedisOptions:
    return RedisOptions(
        table.text("hostname", "localhost"),
        table.number("port", 6379),
        table.number("database", 0),
        table.options.get("username"),
        table.options.get("password"),
        table.boolean("tls", False),
    )
