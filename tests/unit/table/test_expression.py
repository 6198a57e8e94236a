"""The Table API's expressions: PyFlink's names and parameters, and the same calls as SQL."""

from __future__ import annotations

import datetime
import inspect
from decimal import Decimal
from typing import Any

import pytest
from tests.contract.pyflink_api import ApiName, api_names

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.typed.evaluation import project
from penstock.columns.typed.nodes import Typed
from penstock.common.errors import ProgramError
from penstock.table import expressions
from penstock.table.expression import Expression, JsonOnNull, TimeIntervalUnit, TimePointUnit
from penstock.table.expressions import call_sql, col, concat, if_then_else, json_object, lit, null_of, timestamp_diff
from penstock.table.logical.nodes import Field
from penstock.table.logical.scope import Namespace, RelationScope
from penstock.table.resolution.resolver import Resolver
from penstock.table.types import DataTypes

MODULES = ("pyflink.table.expression", "pyflink.table.expressions", "pyflink.table.types")
NAMES = [name for name in api_names() if name.module in MODULES]
FIELDS = (
    Field("a", DataTypes.INT()),
    Field("s", DataTypes.STRING()),
    Field("ts", DataTypes.TIMESTAMP(3)),
    Field("arr", DataTypes.ARRAY(DataTypes.INT())),
)


def parameters(function: Any) -> list[str]:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(function).parameters.values()
    return [f"{stars.get(p.kind, '')}{p.name}" for p in found if p.name not in ("self", "cls")]


def test_every_name_of_pyflink_is_there_with_its_parameters() -> None:
    wrong = []
    for name in NAMES:
        try:
            here = name.here()
        except (ImportError, AttributeError) as error:
            wrong.append(f"{name}: {error}")
            continue
        if name.kind in ("method", "function", "static", "classmethod") and not conversions(name):
            wanted, has = name.parameters(), parameters(here)
            if has[: len(wanted)] != wanted:
                wrong.append(f"{name}: wanted {wanted}, has {has}")
    assert wrong == []


def conversions(name: ApiName) -> bool:
    """PyFlink calls what is converted d, t, dt, ts or v; ours is always obj."""
    return name.full.endswith(("to_sql_type", "from_sql_type"))


def resolved(expression: Expression[Any]) -> Typed:
    scope = RelationScope((Namespace((), 0, FIELDS),), sql=False)
    return Resolver(scope).resolve(expression._node)


def value_of(expression: Expression[Any]) -> str | None:
    node = resolved(expression)
    return texts_of(project([node], [], 1)[0], node.data_type, "UTC").to_pylist()[0]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (col("a") + 1 > 5, "greaterThan(plus(a, 1), 5)"),
        (~(col("a").is_null | (1 - col("a") <= 2)), "not(or(isNull(a), lessThanOrEqual(minus(1, a), 2)))"),
        (col("s").substring(2, 3).alias("x"), "as(substring(s, 2, 3), 'x')"),
        (col("a").sum.distinct, "sum(distinct a)"),
        (col("a").cast(DataTypes.STRING()), "cast(a, STRING)"),
        (col("a").desc, "desc(a)"),
        (lit("x").upper_case, "upper('x')"),
        (call_sql("a + 1"), "plus(a, 1)"),
    ],
)
def test_text(expression: Expression[Any], text: str) -> None:
    assert str(expression) == text


@pytest.mark.parametrize(
    ("expression", "data_type", "value"),
    [
        (lit(1) + 2, "INT NOT NULL", "3"),
        (lit(2) ** 3, "DOUBLE NOT NULL", "8.0"),
        (7 % lit(4), "INT NOT NULL", "3"),
        (lit("a").concat("b"), "STRING NOT NULL", "ab"),
        (lit(Decimal("1.50")), "DECIMAL(3, 2) NOT NULL", "1.50"),
        (lit(3_000_000_000), "BIGINT NOT NULL", "3000000000"),
        (lit(datetime.date(2024, 2, 29)) + lit(1).days, "DATE NOT NULL", "2024-03-01"),
        (lit(datetime.datetime(2024, 1, 1, 2, 3)), "TIMESTAMP(0) NOT NULL", "2024-01-01 02:03:00"),
        (lit(datetime.timedelta(hours=1)), "INTERVAL SECOND(3) NOT NULL", "+0 01:00:00.000"),
        (lit([1, 2]), "ARRAY<INT NOT NULL> NOT NULL", "[1, 2]"),
        (lit({"a": 1}), "MAP<CHAR(1) NOT NULL, INT NOT NULL> NOT NULL", "{a=1}"),
        (expressions.row(1, "x").get("f1"), "CHAR(1) NOT NULL", "x"),
        (null_of(DataTypes.INT()), "INT", None),
        (if_then_else(lit(True), 1, 2), "INT NOT NULL", "1"),
        (lit(5).between(1, 9), "BOOLEAN NOT NULL", "TRUE"),
        (lit(5).in_(1, 5), "BOOLEAN NOT NULL", "TRUE"),
        (lit("x").lpad(3, "-"), "STRING NOT NULL", "--x"),
        (lit("5").try_cast(DataTypes.INT()), "INT", "5"),
        (lit(datetime.date(2024, 2, 29)).extract(TimeIntervalUnit.YEAR), "BIGINT NOT NULL", "2024"),
        (json_object(JsonOnNull.NULL, "k", 1), "STRING NOT NULL", '{"k":1}'),
        (lit('{"a": 1}').json_value("$.a", DataTypes.INT()), "INT", "1"),
        (concat("a", "b", lit("c")), "STRING NOT NULL", "abc"),
        (
            timestamp_diff(TimePointUnit.DAY, lit(datetime.date(2024, 1, 1)), lit(datetime.date(2024, 2, 1))),
            "INT NOT NULL",
            "31",
        ),
        (lit("abc").trim_leading("a"), "VARCHAR(3) NOT NULL", "bc"),
        (expressions.array(3, 1, 2).array_sort(), "ARRAY<INT NOT NULL> NOT NULL", "[1, 2, 3]"),
        (expressions.call("UPPER", "x"), "CHAR(1) NOT NULL", "X"),
        (expressions.pi(), "DOUBLE NOT NULL", "3.141592653589793"),
        (lit(8).log(2), "DOUBLE NOT NULL", "3.0"),
    ],
)
def test_types_and_values(expression: Expression[Any], data_type: str, value: str | None) -> None:
    assert resolved(expression).data_type.as_summary_string() == data_type
    assert value_of(expression) == value


def test_an_expression_is_not_a_condition_of_python() -> None:
    with pytest.raises(TypeError, match="use & | ~"):
        bool(col("a") == 1)
    with pytest.raises(ProgramError, match="after an aggregate function"):
        _ = col("a").distinct
    with pytest.raises(ProgramError, match="cannot be a literal"):
        lit(object())


def test_bitmaps_are_made_of_arrays() -> None:
    node = resolved(expressions.array(3, 1, 3).bitmap_build().bitmap_to_string())
    [column] = project([node], [None] * 4, 1)
    assert column.to_pylist() == ["{1,3}"]
    with pytest.raises(ProgramError, match="bitmap"):
        resolved(col("s").bitmap_cardinality())
