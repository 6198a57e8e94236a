"""A stream into Redis: each record is a command, and what an epoch has written is there when it is complete."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.time import Instant
from penstock.common.types import Row, RowKind
from penstock.connectors.reaching import reach
from penstock.connectors.redis.options import RedisOptions
from penstock.functions.sink import Records, Sink, SinkWriter, WriterContext

__all__ = ["RedisSink"]

Command = tuple[Any, ...]
_AT_ONCE = 1_000


class RedisSink(Sink):
    """Sends the commands that a function makes of records, for ``ds.sink_to``. At least once.

    ``RedisSink(options, lambda row: ("SET", row.key, row.value))``: commands that may be repeated (SET, HSET, SADD,
    DEL) leave the same after a failure. Without a function rows are hashes under the values of their key's columns:
    ``RedisSink(options, key=["id"], prefix="user:")``; a row of the kind DELETE removes its hash.
    """

    def __init__(
        self,
        options: RedisOptions,
        command: Callable[[Any], Command] | None = None,
        key: list[str] | None = None,
        prefix: str = "",
        max_retries: int = 3,
    ) -> None:
        super().__init__()
        if (command is None) == (not key):
            raise ProgramError("RedisSink takes either a function that makes commands of records, or the key of rows.")
        if command is not None and prefix:
            raise ProgramError("The prefix of a RedisSink is that of rows: a function names the keys itself.")
        self._options = options
        self._commands = _each(command) if command is not None else HashCommands(key or [], prefix)
        self._max_retries = max_retries

    def create_writer(self, context: WriterContext) -> SinkWriter:
        names = getattr(context.type_info, "get_field_names", lambda: None)()
        return RedisWriter(self._options, self._commands, names, self._max_retries)


def _each(command: Callable[[Any], Command]) -> Callable[[Any, list[str] | None], list[Command]]:
    def commands(record: Any, names: list[str] | None) -> list[Command]:
        made = command(record)
        if not isinstance(made, (tuple, list)) or not made:
            raise JobExecutionError(
                f"The function of a RedisSink makes a command of each record, as ('SET', key, value); of"
                f" {record!r:.200} it has made {made!r:.200}."
            )
        return [made]

    return commands


class HashCommands:
    """A row as a hash; fields without a value are left out."""

    def __init__(self, key: list[str], prefix: str) -> None:
        self._key = key
        self._prefix = prefix

    def __call__(self, record: Any, names: list[str] | None) -> list[Command]:
        columns = names or getattr(record, "_fields", None)
        if not columns or not isinstance(record, (Row, tuple)):
            raise JobExecutionError(
                f"A RedisSink with a key takes rows with names, Types.ROW_NAMED(...), not {record!r:.200}."
            )
        values = dict(zip(columns, record, strict=True))
        kind = record.get_row_kind() if isinstance(record, Row) else RowKind.INSERT
        key = [values.get(column) for column in self._key]
        if None in key:
            raise JobExecutionError(f"The key {self._key} of a RedisSink needs a value in each row: {record!r:.200}")
        name = redis_key(self._prefix, key)
        if kind is RowKind.UPDATE_BEFORE:
            return []
        if kind is RowKind.DELETE:
            return [("DEL", name)]
        fields = [part for column, value in values.items() if value is not None for part in (column, text_of(value))]
        return [("DEL", name), ("HSET", name, *fields)]


def redis_key(prefix: str, values: list[Any]) -> str:
    """Different keys have different names: a colon within a value that others follow is no colon between two."""
    *first, last = (str(value) for value in values)
    return prefix + ":".join([*(part.replace("\\", "\\\\").replace(":", "\\:") for part in first), last])


def text_of(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Instant):
        at = datetime.datetime.fromtimestamp(value.seconds, datetime.UTC)
        return f"{at:%Y-%m-%dT%H:%M:%S}.{value.nanos:09d}Z"
    return value if isinstance(value, (bytes, str, int, float)) else str(value)


class RedisWriter(SinkWriter):
    """Sends commands in pipelines; each pipeline is one transaction of Redis'."""

    def __init__(self, options: RedisOptions, commands: Any, names: list[str] | None, max_retries: int) -> None:
        self._options = options
        self._commands = commands
        self._names = names
        self._max_retries = max_retries
        self._client: Any = None
        self._waiting: list[Command] = []

    def open(self) -> None:
        self._client = self._options.connect()

    def write(self, records: Records) -> None:
        for record in records.values:
            self._waiting += self._commands(record, self._names)
            if len(self._waiting) >= _AT_ONCE:
                self._send()

    def flush(self, end_of_input: bool) -> None:
        if self._waiting:
            self._send()

    def _send(self) -> None:
        waiting, options = self._waiting, self._options

        def send() -> None:
            with self._client.pipeline(transaction=True) as pipeline:
                for command in waiting:
                    pipeline.execute_command(*command)
                pipeline.execute()

        reach(str(options), send, options.is_away, self._max_retries, (options.password,))
        self._waiting = []

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
