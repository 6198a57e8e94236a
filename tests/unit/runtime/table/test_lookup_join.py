"""Lookup joins: what is asked, what is kept, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.unit.runtime.table.table_harness import TableHarness

from penstock.columns.typesystem.data_types import DataTypes
from penstock.functions.lookup import LookupFunction
from penstock.runtime.table.lookup_join import LookupJoinParams
from penstock.runtime.table.row_type import TableRowType

LEFT = TableRowType(["id", "k"], [DataTypes.INT(), DataTypes.STRING()])
RIGHT = TableRowType(["k", "name"], [DataTypes.STRING(), DataTypes.STRING()])
BOTH = TableRowType(["id", "k", "k0", "name"], [*LEFT.types, *RIGHT.types])


class Names(LookupFunction):
    def __init__(self) -> None:
        self.asked: list[Sequence[tuple[Any, ...]]] = []

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        self.asked.append(list(keys))
        rows = {"a": [("a", "anna"), ("a", "alan")], "b": [("b", "bert")]}
        return [rows.get(key[0], []) for key in keys]


def harness(kind: str, **settings: Any) -> TableHarness:
    params = LookupJoinParams(kind, LEFT, (1,), RIGHT, Names(), **settings)
    return TableHarness("table_lookup_join", {"join": params}, [(LEFT, None)], BOTH)


def asked(join: TableHarness) -> list[Any]:
    return join.operator._params.function.asked  # type: ignore[attr-defined, no-any-return]


def test_each_key_of_a_batch_is_asked_for_once() -> None:
    join = harness("LEFT")
    join.rows([("+I", (1, "a")), ("+I", (2, "x")), ("-D", (3, "b")), ("+I", (4, "a")), ("+I", (5, None))])
    assert asked(join) == [[("a",), ("x",), ("b",)]]
    assert join.changes() == [
        ("+I", (1, "a", "a", "anna")),
        ("+I", (1, "a", "a", "alan")),
        ("+I", (2, "x", None, None)),
        ("-D", (3, "b", "b", "bert")),
        ("+I", (4, "a", "a", "anna")),
        ("+I", (4, "a", "a", "alan")),
        ("+I", (5, None, None, None)),
    ]


def test_an_inner_join_leaves_rows_without_partner_out() -> None:
    join = harness("INNER")
    join.rows([("+I", (1, "x")), ("+I", (2, "b"))])
    assert join.changes() == [("+I", (2, "b", "b", "bert"))]


def test_answers_are_kept_as_long_and_as_many_as_allowed() -> None:
    join = harness("INNER", cached_keys=1, cached_ms=1_000)
    join.rows([("+I", (1, "a"))])
    join.rows([("+I", (2, "a"))])
    assert len(asked(join)) == 1
    join.processing_time(1_000)
    join.rows([("+I", (3, "a")), ("+I", (4, "b"))])
    join.rows([("+I", (5, "b"))])
    assert asked(join)[1:] == [[("a",), ("b",)]]
