"""Lookup joins: what is asked, what is kept, what is tried again, and what comes out; waiting and not waiting."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from tests.unit.runtime.table.table_harness import TableHarness

from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.time import Time
from penstock.functions.async_io import AsyncFunctionDescriptor, AsyncRetryStrategy
from penstock.functions.lookup import LookupFunction
from penstock.runtime.table.async_lookup import AsyncLookup, nothing_found
from penstock.runtime.table.lookup_cache import CacheSettings, LookupCache
from penstock.runtime.table.lookup_join import LookupJoinParams, Retries
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.whole_table import Reloads

LEFT = TableRowType(["id", "k"], [DataTypes.INT(), DataTypes.STRING()])
RIGHT = TableRowType(["k", "name"], [DataTypes.STRING(), DataTypes.STRING()])
BOTH = TableRowType(["id", "k", "k0", "name"], [*LEFT.types, *RIGHT.types])


class Names(LookupFunction):
    """Knows c only when it is asked for the second time."""

    asked: ClassVar[list[list[tuple[Any, ...]]]] = []

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        rows = {"a": [("a", "anna"), ("a", "alan")], "b": [("b", "bert")]}
        if any(("c",) in before for before in self.asked):
            rows["c"] = [("c", "carl")]
        self.asked.append(list(keys))
        return [rows.get(key[0], []) for key in keys]

    def everything(self) -> dict[tuple[Any, ...], list[Any]]:
        """Each time anna is a year older."""
        self.asked.append([])
        return {("a",): [("a", f"anna {len(self.asked)}")]}


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    Names.asked.clear()


def harness(kind: str, **settings: Any) -> TableHarness:
    params = LookupJoinParams(kind, LEFT, (1,), RIGHT, Names(), **settings)
    return TableHarness("table_lookup_join", {"join": params}, [(LEFT, None)], BOTH)


ROWS = [("+I", (1, "a")), ("+I", (2, "x")), ("-D", (3, "b")), ("+I", (4, "a")), ("+I", (5, None))]
JOINED = [
    ("+I", (1, "a", "a", "anna")),
    ("+I", (1, "a", "a", "alan")),
    ("+I", (2, "x", None, None)),
    ("-D", (3, "b", "b", "bert")),
    ("+I", (4, "a", "a", "anna")),
    ("+I", (4, "a", "a", "alan")),
    ("+I", (5, None, None, None)),
]


def test_each_key_of_a_batch_is_asked_for_once() -> None:
    join = harness("LEFT")
    join.rows(ROWS)
    assert Names.asked == [[("a",), ("x",), ("b",)]]
    assert join.changes() == JOINED


def test_an_inner_join_leaves_rows_without_partner_out() -> None:
    join = harness("INNER")
    join.rows([("+I", (1, "x")), ("+I", (2, "b"))])
    assert join.changes() == [("+I", (2, "b", "b", "bert"))]


def test_answers_are_kept_as_long_and_as_many_as_allowed() -> None:
    join = harness("INNER", cache=CacheSettings(1, 1_000))
    join.rows([("+I", (1, "a"))])
    join.rows([("+I", (2, "a"))])
    assert len(Names.asked) == 1
    join.processing_time(1_000)
    join.rows([("+I", (3, "a")), ("+I", (4, "b"))])
    join.rows([("+I", (5, "b"))])
    assert Names.asked[1:] == [[("a",), ("b",)]]


def test_a_cache_forgets_by_writing_by_use_and_what_is_missing() -> None:
    cache = LookupCache(CacheSettings(2, None, 100, missing=False))
    cache.put(("a",), [1], 0)
    cache.put(("b",), [2], 0)
    cache.put(("x",), [], 0)
    assert cache.get(("x",), 0) is None
    assert cache.get(("a",), 50) == [1]
    cache.put(("c",), [3], 60)  # b was used least recently
    assert cache.get(("b",), 60) is None
    assert (cache.get(("a",), 149), cache.get(("c",), 200)) == ([1], None)


def test_keys_that_are_missing_are_asked_for_again() -> None:
    join = harness("LEFT", retries=Retries(2, 0))
    join.rows([("+I", (1, "c")), ("+I", (2, "b")), ("+I", (3, "x"))])
    assert Names.asked == [[("c",), ("b",), ("x",)], [("c",), ("x",)], [("x",)]]
    assert join.changes() == [
        ("+I", (1, "c", "c", "carl")),
        ("+I", (2, "b", "b", "bert")),
        ("+I", (3, "x", None, None)),
    ]


def without_waiting(strategy: Any, cache: CacheSettings | None = None) -> TableHarness:
    params = LookupJoinParams("LEFT", LEFT, (1,), RIGHT, Names(), cache=cache)
    modes = AsyncFunctionDescriptor.OutputMode
    descriptor = AsyncFunctionDescriptor(
        AsyncLookup(Names(), (1,), cache), Time.seconds(60), 3, strategy, modes.ORDERED
    )
    return TableHarness("table_async_lookup_join", {"join": params}, [(LEFT, None)], BOTH, function=descriptor)


def test_rows_that_are_on_their_way_come_out_in_their_order_also_after_a_restart() -> None:
    join = without_waiting(AsyncRetryStrategy.no_restart())
    join.rows(ROWS)
    join.restart()  # some are asked for again
    join.operator.finish()
    assert join.changes() == JOINED
    join.operator.close()


def test_asynchronous_lookups_try_again_what_is_missing() -> None:
    join = without_waiting(AsyncRetryStrategy.fixed_delay(2, 1, nothing_found, None))
    join.rows([("+I", (1, "c")), ("+I", (2, "b"))])
    join.operator.finish()
    assert join.changes() == [("+I", (1, "c", "c", "carl")), ("+I", (2, "b", "b", "bert"))]
    join.operator.close()


@pytest.mark.parametrize(("now", "read_again"), [(999, False), (1_000, True)])
def test_a_whole_table_is_read_at_the_first_row_and_when_it_is_due(now: int, read_again: bool) -> None:
    join = harness("LEFT", cache=Reloads(1_000))
    assert Names.asked == []
    join.rows([("+I", (1, "a")), ("+I", (2, "b"))])
    join.processing_time(now)
    join.rows([("+I", (3, "a"))])
    name = "anna 2" if read_again else "anna 1"
    assert join.changes() == [
        ("+I", (1, "a", "a", "anna 1")),
        ("+I", (2, "b", None, None)),
        ("+I", (3, "a", "a", name)),
    ]


def test_when_a_whole_table_is_due() -> None:
    day, hour = 86_400_000, 3_600_000
    assert Reloads(100).due_after(10, 30) == 130
    assert Reloads(100, fixed_rate=True).due_after(10, 30) == 110
    at_ten = datetime.time(10, tzinfo=datetime.UTC)
    assert Reloads(at=at_ten).due_after(5 * day + 9 * hour, 0) == 5 * day + 10 * hour
    assert Reloads(at=at_ten, days=3).due_after(5 * day + 10 * hour, 0) == 8 * day + 10 * hour
