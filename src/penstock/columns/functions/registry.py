"""All built-in functions on one screen, by group; and how a name is looked up."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.functions.aggregates import AGGREGATES, GROUPING, OVER_FUNCTIONS
from penstock.columns.functions.bitmaps import BITMAPS
from penstock.columns.functions.containers import COLLECTIONS, CONSTRUCTION
from penstock.columns.functions.documents import JSON, VARIANT
from penstock.columns.functions.function import Function
from penstock.columns.functions.mathematics import ARITHMETIC
from penstock.columns.functions.operators import COMPARISON, CONDITIONAL, LOGICAL
from penstock.columns.functions.plan_functions import AUXILIARY, GROUP_WINDOWS, TABLE_FUNCTIONS
from penstock.columns.functions.texts import HASHES, STRINGS
from penstock.columns.functions.times import TEMPORAL

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

# What SHOW FUNCTIONS of Flink lists and is no row above: syntax with a node of its own, or inner workings of Flink.
NO_FUNCTIONS: dict[str, str] = {
    "as": "an alias is syntax",
    "asc": "an ordering is syntax",
    "desc": "an ordering is syntax",
    "cast": "CAST is syntax; the kernel is kernels/casting.py",
    "TRY_CAST": "TRY_CAST is syntax; the kernel is kernels/casting.py",
    "distinct": "DISTINCT is a property of an aggregate call",
    "over": "OVER is syntax",
    "DEFAULT": "an argument that is left out is syntax",
    "ASSIGNMENT": "a named argument is syntax",
    "rangeTo": "the plan spreads ranges of columns",
    "withColumns": "the plan spreads columns",
    "withoutColumns": "the plan spreads columns",
    "lowerCase": "the same as lower",
    "upperCase": "the same as upper",
    "JSON_ARRAYAGG_ABSENT_ON_NULL": "JSON_ARRAYAGG with an option",
    "JSON_ARRAYAGG_NULL_ON_NULL": "JSON_ARRAYAGG with an option",
    "JSON_OBJECTAGG_ABSENT_ON_NULL": "JSON_OBJECTAGG with an option",
    "JSON_OBJECTAGG_NULL_ON_NULL": "JSON_OBJECTAGG with an option",
    "flatten": "the plan spreads the fields of a row",
    "start": "the plan takes it from the window",
    "end": "the plan takes it from the window",
    "rowtime": "the plan takes it from the window",
    "streamRecordTimestamp": "inner to Flink's bridge of streams and tables",
    "reinterpretCast": "inner to Flink's planner",
    "AGG_DECIMAL_PLUS": "inner to Flink's planner",
    "AGG_DECIMAL_MINUS": "inner to Flink's planner",
    "HIVE_AGG_DECIMAL_PLUS": "inner to Flink's planner",
}


def builtin(name: str) -> Function | None:
    """By Flink's own name, as `plus`, or by a name of SQL in any case."""
    return BY_NAME.get(name) or BY_SQL_NAME.get(name.upper())


def sql_names() -> list[str]:
    return sorted(BY_SQL_NAME)
