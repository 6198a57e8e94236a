"""sum, min, max, min_by and max_by over a key's records."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import pytest

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.types import Row, RowKind
from penstock.functions.rolling import (
    Maximum,
    MaximumBy,
    Minimum,
    MinimumBy,
    RollingAggregation,
    Sum,
)

TRIPLE = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
RECORDS = [("a", 3, "x"), ("a", 1, "y"), ("a", 1, "z"), ("a", 7, "u"), ("a", 7, "v")]
NAMED_ROW = Types.ROW_NAMED(["key", "n"], [Types.STRING(), Types.INT()])
UNTYPED = Types.PICKLED_BYTE_ARRAY()


class Point(NamedTuple):
    x: int
    y: int


def rolled(aggregation: RollingAggregation, records: list[Any]) -> Any:
    return reduce(aggregation.reduce, records)


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        (Sum, ("a", 19, "x")),
        (Minimum, ("a", 1, "x")),
        (Maximum, ("a", 7, "x")),
        (MinimumBy, ("a", 1, "y")),
        (MaximumBy, ("a", 7, "u")),
    ],
)
def test_tuples(aggregation: type[RollingAggregation], expected: Any) -> None:
    assert rolled(aggregation(1, TRIPLE), RECORDS) == expected


@pytest.mark.parametrize(
    ("records", "type_info", "position", "expected"),
    [
        ([1, 2, 3], Types.INT(), 0, 6),
        ([1.5, 2.0], UNTYPED, 0, 3.5),
        ([("a", 1), ("a", 2)], UNTYPED, 1, ("a", 3)),
        ([("a", 1), ("a", 2)], Types.TUPLE([Types.STRING(), Types.INT()]), -1, ("a", 3)),
        ([["a", 1], ["a", 2]], UNTYPED, 1, ["a", 3]),
        ([Point(1, 2), Point(1, 5)], UNTYPED, 1, Point(1, 7)),
    ],
)
def test_sums(records: list[Any], type_info: TypeInformation, position: int, expected: Any) -> None:
    total = rolled(Sum(position, type_info), records)
    assert (total, type(total)) == (expected, type(expected))


def test_rows_by_name_keep_names_kind_and_their_first_record() -> None:
    first = Row.of_kind(RowKind.UPDATE_AFTER, key="a", n=1)
    total = rolled(Sum("n", NAMED_ROW), [first, Row(key="b", n=2)])
    assert total == Row.of_kind(RowKind.UPDATE_AFTER, key="a", n=3)
    assert total.n == 3
    assert first.n == 1


def test_a_name_finds_the_field_of_a_nameless_row_of_a_named_type() -> None:
    assert rolled(Sum("n", NAMED_ROW), [Row("a", 1), Row("b", 2)]) == Row("a", 3)


def test_untyped_rows_by_name() -> None:
    assert rolled(Maximum("n", UNTYPED), [Row(n=1), Row(n=4)]) == Row(n=4)


@pytest.mark.parametrize(
    ("position", "type_info", "message"),
    [
        (3, TRIPLE, "has no field 3; use an index from 0 to 2"),
        ("n", TRIPLE, "have no names, got 'n'; use an index from 0 to 2"),
        ("m", NAMED_ROW, r"no field 'm'; its fields are \['key', 'n'\]"),
        (2, NAMED_ROW, "has no field 2; use an index from 0 to 1"),
        (1, Types.INT(), "records of type Integer have no fields"),
        (1.5, TRIPLE, "takes the index or the name of a field, got 1.5"),
    ],
)
def test_wrong_positions_are_refused_when_the_type_is_known(
    position: Any, type_info: TypeInformation, message: str
) -> None:
    with pytest.raises(ProgramError, match=rf"sum\(\).*{message}"):
        Sum(position, type_info)


@pytest.mark.parametrize(
    ("position", "record", "message"),
    [
        (5, ("a", 1), "use an index from 0 to 1"),
        ("n", ("a", 1), "use an index from 0 to 1"),
        ("m", Row(key="a", n=1), r"its fields are \['key', 'n'\]"),
        ("n", {"n": 1}, "leave the position out"),
    ],
)
def test_wrong_positions_of_untyped_records_are_told_with_the_record(position: Any, record: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        Sum(position, UNTYPED).reduce(record, record)
