"""All built-in functions on one screen, by group; and how a name is looked up."""

from __future__ import annotations

from dataclasses import replace

from penstock.table.functions.aggregates import AGGREGATES, BITMAPS, GROUPING, OVER_FUNCTIONS
from penstock.table.functions.containers import COLLECTIONS, CONSTRUCTION
from penstock.table.functions.documents import JSON, VARIANT
from penstock.table.functions.function import Function
from penstock.table.functions.mathematics import ARITHMETIC
from penstock.table.functions.operators import COMPARISON, CONDITIONAL, LOGICAL
from penstock.table.functions.plan_functions import AUXILIARY, GROUP_WINDOWS, TABLE_FUNCTIONS
from penstock.table.functions.texts import HASHES, STRINGS
from penstock.table.functions.times import TEMPORAL

GROUPS: dict[str, tuple[Function, ...]] = {
    "comparison": COMPARISON,
    "logical": LOGICAL,
    "conditional": CONDITIONAL,
    "arithmetic": ARITHMETIC,
    "string": STRINGS,
    "hash": HASHES,
    "temporal": TEMPORAL,
    "collection": COLLECTIONS,
    "construction and access": CONSTRUCTION,
    "json": JSON,
    "variant": VARIANT,
    "aggregate": AGGREGATES,
    "over": OVER_FUNCTIONS,
    "grouping": GROUPING,
    "bitmap": BITMAPS,
    "group window": GROUP_WINDOWS,
    "table": TABLE_FUNCTIONS,
    "auxiliary": AUXILIARY,
}

FUNCTIONS: tuple[Function, ...] = tuple(
    replace(function, group=group) for group, members in GROUPS.items() for function in members
)
BY_NAME: dict[str, Function] = {function.name: function for function in FUNCTIONS}
BY_SQL_NAME: dict[str, Function] = {name.upper(): function for function in FUNCTIONS for name in function.sql}


def builtin(name: str) -> Function | None:
    """By Flink's own name, as `plus`, or by a name of SQL in any case."""
    return BY_NAME.get(name) or BY_SQL_NAME.get(name.upper())


def sql_names() -> list[str]:
    return sorted(BY_SQL_NAME)
