from __future__ import annotations

import datetime
import math
import pickle
from collections import namedtuple
from decimal import Decimal
from typing import Any

import pytest

from penstock.common import Instant, Row, RowKind, TypeInformation, Types
from penstock.runtime.coercion import coercer

NAMED = Types.ROW_NAMED(["item", "price"], [Types.STRING(), Types.INT()])
PAIR = Types.TUPLE([Types.INT(), Types.STRING()])
Point = namedtuple("Point", "x y")
UTC = datetime.UTC


def apply(type_info: TypeInformation, value: Any) -> Any:
    coerce = coercer(type_info)
    assert coerce is not None
    return coerce(value)


@pytest.mark.parametrize(
    ("type_info", "value", "result"),
    [
        (Types.INT(), 7.9, 7), (Types.INT(), -7.9, -7), (Types.INT(), True, 1),
        (Types.LONG(), Decimal("7.9"), 7),
        (Types.BYTE(), -128, -128), (Types.LONG(), 2**63 - 1, 2**63 - 1), (Types.BIG_INT(), 2**100, 2**100),
        (Types.DOUBLE(), 3, 3.0), (Types.DOUBLE(), Decimal("1.5"), 1.5), (Types.DOUBLE(), True, 1.0),
        (Types.FLOAT(), 0.1, 0.10000000149011612), (Types.FLOAT(), 1e300, math.inf), (Types.FLOAT(), 3, 3.0),
        (Types.BOOLEAN(), 2, True), (Types.BOOLEAN(), 0, False), (Types.BOOLEAN(), 1.5, True),
        (Types.BIG_DEC(), Decimal("1.50"), Decimal("1.50")), (Types.BIG_DEC(), 1.5, Decimal("1.5")),
        (Types.SQL_DATE(), datetime.datetime(2020, 1, 2, 3), datetime.date(2020, 1, 2)),
        (Types.SQL_TIME(), datetime.time(1, 2, 3, 456789, UTC), datetime.time(1, 2, 3, 456000)),
        (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, UTC),
         datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)),
        (Types.SQL_TIMESTAMP(), datetime.datetime(1960, 1, 2, 3, 4, 5, 678901),
         datetime.datetime(1960, 1, 2, 3, 4, 5, 678000)),
        (Types.INSTANT(), Instant(1, 2345678), Instant(1, 2345678)),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), bytearray(b"ab"), b"ab"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), [1.9], [1]),
        (Types.BASIC_ARRAY(Types.INT()), [1, None], [1, None]),
        (Types.LIST(NAMED), [Row("a", 1)], [Row(item="a", price=1)]),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": 1.9, "b": None}, {"a": 1, "b": None}),
        (PAIR, (1.9, "a"), (1, "a")), (PAIR, (1, "a", 2), (1, "a")), (PAIR, Point(1, "a"), (1, "a")),
        (NAMED, Row("a", 1), Row(item="a", price=1)), (NAMED, Row(price=1, item="a"), Row(item="a", price=1)),
        (NAMED, Row("a", 1, 2), Row(item="a", price=1)),
        (NAMED, Row.of_kind(RowKind.DELETE, "a", None), Row.of_kind(RowKind.DELETE, item="a", price=None)),
        (Types.ROW([Types.INT()]), Row(1), Row(f0=1)),
        (Types.TUPLE([Types.PICKLED_BYTE_ARRAY()]), ({1},), ({1},)),
    ],
)  # fmt: skip
def test_what_a_declared_type_makes_of_a_value(type_info: TypeInformation, value: Any, result: Any) -> None:
    coerced = apply(type_info, value)
    assert coerced == result and type(coerced) is type(result) and repr(coerced) == repr(result)


@pytest.mark.parametrize(
    "type_info",
    [
        Types.INT(),
        Types.FLOAT(),
        Types.STRING(),
        Types.SQL_TIME(),
        Types.INSTANT(),
        PAIR,
        NAMED,
        Types.LIST(NAMED),
    ],
)
def test_none_is_none(type_info: TypeInformation) -> None:
    assert apply(type_info, None) is None


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (Types.INT(), 2**31), (Types.BYTE(), 128), (Types.SHORT(), -32769), (Types.LONG(), 2**63),
        (Types.INT(), math.nan), (Types.DOUBLE(), 2**1100), (Types.STRING(), "\ud800"), (Types.CHAR(), "ab"),
        (PAIR, (1,)), (NAMED, Row("a")), (NAMED, Row(item="a", cost=1)),
        (Types.PRIMITIVE_ARRAY(Types.INT()), [None]),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(type_info: TypeInformation, value: Any) -> None:
    with pytest.raises(ValueError, match="is no value of the declared type"):
        apply(type_info, value)


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (Types.INT(), "5"), (Types.DOUBLE(), "1.5"), (Types.BOOLEAN(), "x"), (Types.STRING(), 5),
        (Types.STRING(), b"x"),
        (Types.SQL_DATE(), "2020-01-01"), (Types.SQL_TIMESTAMP(), datetime.date(2020, 1, 1)),
        (Types.INSTANT(), 5),
        (PAIR, [1, "a"]), (PAIR, Row(1, "a")), (NAMED, ("a", 1)), (NAMED, {"item": "a", "price": 1}),
        (Types.LIST(Types.INT()), (1, 2)), (Types.PRIMITIVE_ARRAY(Types.BYTE()), [1]), (Types.BIG_DEC(), "x"),
        (Types.MAP(Types.STRING(), Types.INT()), {None: 1}),
    ],
)  # fmt: skip
def test_values_of_wrong_python_types(type_info: TypeInformation, value: Any) -> None:
    with pytest.raises(TypeError, match="is no value of the declared type"):
        apply(type_info, value)


def test_errors_name_the_path_the_value_and_the_type() -> None:
    nested = Types.ROW_NAMED(["orders"], [Types.LIST(NAMED)])
    with pytest.raises(ValueError) as raised:
        apply(nested, Row([Row("a", 1), Row("b", 2**40)]))
    assert str(raised.value) == (
        "field 'orders', element 1, field 'price': 1099511627776 (int) is no value of the declared type"
        " Integer: it holds -2147483648 to 2147483647"
    )
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    with pytest.raises(TypeError, match=r"^'x{70,80}\.\.\. \(str\)"):
        apply(Types.INT(), "x" * 1000)


def test_pickled_values_need_nothing() -> None:
    assert coercer(Types.PICKLED_BYTE_ARRAY()) is None
