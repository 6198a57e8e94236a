from __future__ import annotations

import datetime
import pickle

import pytest

from penstock.common import Instant, Row, RowKind, TypeInformation, Types
from penstock.common.errors import NotSupportedError

INT, STRING = Types.INT(), Types.STRING()


@pytest.mark.parametrize(
    ("type_info", "text"),
    [
        (Types.INT(), "Integer"),
        (Types.BIG_DEC(), "BigDecimal"),
        (Types.SQL_TIMESTAMP(), "TimestampTypeInfo"),
        (Types.PICKLED_BYTE_ARRAY(), "PickledByteArrayTypeInfo"),
        (Types.ROW([INT, STRING]), "RowTypeInfo(Integer, String)"),
        (Types.ROW_NAMED(["a"], [Types.TUPLE([INT])]), "RowTypeInfo(a: TupleTypeInfo(Integer))"),
        (Types.MAP(STRING, INT), "MapTypeInfo<String, Integer>"),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), "PrimitiveArrayTypeInfo<Byte>"),
        (Types.LIST(INT), "ListTypeInfo<Integer>"),
    ],
)
def test_text_equality_and_pickle(type_info: TypeInformation, text: str) -> None:
    assert repr(type_info) == text
    again = pickle.loads(pickle.dumps(type_info))
    assert again == type_info and hash(again) == hash(type_info)


def test_equality_is_by_structure() -> None:
    assert Types.ROW([INT]) == Types.ROW_NAMED(["x"], [INT])
    assert Types.TUPLE([INT]) != Types.ROW([INT])
    assert Types.LIST(INT) != Types.LIST(STRING) and Types.LIST(INT) != Types.BASIC_ARRAY(INT)
    assert Types.LONG() != INT and INT != "Integer"


def test_row_fields() -> None:
    row = Types.ROW([INT, STRING])
    assert row.get_field_names() == ["f0", "f1"] and row.get_field_index("f1") == 1
    assert repr(row) == "RowTypeInfo(Integer, String)"
    with pytest.raises(ValueError, match="no field 'zz'"):
        row.get_field_index("zz")
    with pytest.raises(ValueError, match="1 names"):
        Types.ROW_NAMED(["a"], [INT, STRING])
    with pytest.raises(ValueError, match="differ"):
        Types.ROW_NAMED(["a", "a"], [INT, STRING])


def test_internal_forms() -> None:
    day, moment = datetime.date(2020, 1, 2), datetime.datetime(1960, 1, 2, 3, 4, 5, 678901)
    assert Types.SQL_DATE().to_internal_type(day) == 18263
    assert Types.SQL_TIME().from_internal_type(3723456789) == datetime.time(1, 2, 3, 456789)
    for type_info, value in [(Types.SQL_TIMESTAMP(), moment), (Types.INSTANT(), Instant(-1, 5000))]:
        assert type_info.from_internal_type(type_info.to_internal_type(value)) == value
    row_type = Types.ROW_NAMED(["a", "b"], [INT, Types.SQL_DATE()])
    for value in (Row(1, day), Row(b=day, a=1), (1, day), {"a": 1, "b": day}):
        assert row_type.to_internal_type(value) == (RowKind.INSERT.value, 1, 18263)


def test_java_type_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="Java"):
        INT.get_java_type_info()
