from __future__ import annotations

import math
from typing import Any

import pytest

from penstock.common import Row, TypeInformation, Types
from penstock.runtime.coerced_lists import list_coercer
from penstock.runtime.coercion import coercer

SOME = ["a", "", "é", "\ud800", None, True, False, 0, 1, -1, 1.5, 2.0, math.inf, b"x"]
SOME += [sign * (1 << bits) + step for bits in (7, 15, 31, 63) for sign in (-1, 1) for step in (-1, 0, 1)]
SIMPLE = [Types.STRING(), Types.BOOLEAN(), Types.DOUBLE(), Types.BIG_INT(), Types.FLOAT(), Types.CHAR()]
SIMPLE += [Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG(), Types.PRIMITIVE_ARRAY(Types.BYTE())]


class Name(str):
    pass


def outcome(apply: Any, given: Any) -> Any:
    try:
        return [(type(value), repr(value)) for value in apply(given)]
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("type_info", SIMPLE, ids=repr)
def test_a_list_becomes_what_its_values_become(type_info: TypeInformation) -> None:
    each, together = coercer(type_info), list_coercer(type_info)
    assert each is not None and together is not None
    for first in [*SOME, Name("a")]:
        for second in SOME:
            values = [first, second]
            assert outcome(together, values) == outcome(lambda values: list(map(each, values)), values), values


def test_tuples_become_what_each_of_them_becomes() -> None:
    type_info = Types.TUPLE([Types.STRING(), Types.INT()])
    each, together = coercer(type_info), list_coercer(type_info)
    assert each is not None and together is not None
    some = [(text, number) for text in ("a", "\ud800", None, 1) for number in (1, True, None, 7.9, 1 << 31)]
    for second in [*some, ("a",), ("a", 1, 2), ["a", 1], Row("a", 1), None, "ab"]:
        values = [("a", 1), second]
        assert outcome(together, values) == outcome(lambda values: list(map(each, values)), values), values


@pytest.mark.parametrize(
    ("type_info", "values"),
    [
        (Types.TUPLE([Types.STRING(), Types.LONG()]), [("a", 1), ("", 2)]),
        (Types.TUPLE([Types.TUPLE([Types.LONG()])]), [((1,),), ((2,),)]),
        (Types.STRING(), ["a", ""]),
        (Types.LONG(), [-(2**63), 2**63 - 1]),
        (Types.DOUBLE(), [0.5]),
        (Types.BOOLEAN(), [True]),
    ],
)
def test_values_of_the_type_are_not_copied(type_info: TypeInformation, values: list[Any]) -> None:
    together = list_coercer(type_info)
    assert together is not None and together(values) is values


def test_a_type_that_takes_everything_needs_nothing() -> None:
    assert list_coercer(Types.PICKLED_BYTE_ARRAY()) is None
