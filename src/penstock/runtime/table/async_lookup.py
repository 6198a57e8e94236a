"""Lookup joins that do not wait: rows go on to be asked for while others are on their way.

Keys that wait while all connections are busy are asked for together, so that slow answers make larger questions.
"""

from __future__ import annotations

import asyncio
import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from penstock.common.types import Row
from penstock.functions.async_io import AsyncFunction
from penstock.functions.base import RuntimeContext
from penstock.functions.lookup import LookupFunction
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.async_io import AsyncOperator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.lookup_cache import CacheSettings, Found, Key, LookupCache
from penstock.runtime.table.lookup_join import RowPairs

_CONNECTIONS = 4


class AsyncLookup(AsyncFunction[Row, tuple[Row, Found]]):
    """A row and what was found for it. A LookupFunction is used by one thread at a time; there are copies of it."""

    def __init__(self, function: LookupFunction, keys: tuple[int, ...], cache: CacheSettings | None) -> None:
        self._keys = keys
        self._function = function
        self._cache_settings = cache

    def open(self, runtime_context: RuntimeContext) -> None:
        self._cache = LookupCache(self._cache_settings) if self._cache_settings is not None else None
        self._pool = ThreadPoolExecutor(_CONNECTIONS, "lookups")
        self._copies = [copy.deepcopy(self._function) for _ in range(_CONNECTIONS)]
        self._opened: set[int] = set()
        self._free = list(range(_CONNECTIONS))
        self._waiting: dict[Key, asyncio.Future[Found]] = {}  # not asked for yet
        self._asked: dict[Key, asyncio.Future[Found]] = {}

    def close(self) -> None:
        self._pool.shutdown(wait=True)
        for number in self._opened:
            self._copies[number].close()

    async def async_invoke(self, value: Row) -> list[tuple[Row, Found]]:
        key = tuple(value[place] for place in self._keys)
        return [(value, [] if None in key else await self._found(key))]

    async def _found(self, key: Key) -> Found:
        loop = asyncio.get_running_loop()
        cached = self._cache.get(key, _now(loop)) if self._cache is not None else None
        if cached is not None:
            return cached
        future = self._waiting.get(key) or self._asked.get(key)
        if future is None:
            future = self._waiting[key] = loop.create_future()
            loop.call_soon(self._ask, loop)  # behind all calls that begin now
        return await asyncio.shield(future)  # others may wait for it too

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._waiting or not self._free:
            return
        number, asked = self._free.pop(), self._waiting
        self._asked |= asked
        self._waiting = {}
        answer = loop.run_in_executor(self._pool, self._lookup, number, list(asked))
        answer.add_done_callback(lambda done: self._answered(loop, number, asked, done))

    def _lookup(self, number: int, keys: list[Key]) -> list[Found]:
        if number not in self._opened:
            self._copies[number].open()
            self._opened.add(number)
        return self._copies[number].lookup(keys)

    def _answered(
        self, loop: asyncio.AbstractEventLoop, number: int, asked: dict[Key, asyncio.Future[Found]], done: Any
    ) -> None:
        self._free.append(number)
        error = None if done.cancelled() else done.exception()
        answers = [] if done.cancelled() or error is not None else done.result()
        for place, (key, future) in enumerate(asked.items()):
            self._asked.pop(key, None)
            if error is not None:
                future.set_exception(error)
            elif answers:
                future.set_result(answers[place])
                if self._cache is not None:
                    self._cache.put(key, answers[place], _now(loop))
            else:
                future.cancel()
        self._ask(loop)


def _now(loop: asyncio.AbstractEventLoop) -> int:
    return int(loop.time() * 1000)


def nothing_found(results: list[tuple[Row, Found]]) -> bool:
    """What `retry-predicate` = `lookup_miss` tries again."""
    return not any(found for _, found in results)


class AsyncLookupJoinOperator(AsyncOperator):
    """Rows are asked for one by one, and joined as columns again when their answers leave."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        params = blueprint.params["join"]
        self._left = TableCodec(params.left_type)
        self._pairs = RowPairs(params, TableCodec(blueprint.output_type), context)
        super().__init__(blueprint, context)

    def open(self) -> None:
        self._pairs.functions.open()
        super().open()

    def close(self) -> None:
        super().close()
        self._pairs.functions.close()

    def process(self, batch: Batch, input_index: int) -> None:
        columns: Any = batch.in_columns(self._left).columns
        for row in self._left.decode(columns):
            self._take(row, MIN_TIMESTAMP)
        self._go_on()

    def _emit(self, results: Batch) -> None:
        pairs = results.values
        rows = Batch(None, codec=self._left, columns=self._left.encode([row for row, _ in pairs]))
        joined = self._pairs.joined(self._left.arrays(rows), rows.kinds, [found for _, found in pairs])
        if joined is not None:
            self.output.emit(joined)
