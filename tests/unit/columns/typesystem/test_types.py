"""Types compare, print and are read back as Flink's and PyFlink's."""

from __future__ import annotations

import datetime
import pickle

import pyarrow as pa
import pytest

from penstock.columns.typesystem.scalars import VariantType, ZonedTimestampType
from penstock.columns.typesystem.type_text import parse_type
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.types import Row
from penstock.table.types import (
    BigIntType,
    DataType,
    DataTypes,
    DecimalType,
    IntType,
    RowType,
    VarCharType,
    create_arrow_schema,
    from_arrow_type,
    to_arrow_type,
)

T = DataTypes

TEXTS: list[tuple[DataType, str, str]] = [
    (T.NULL(), "NULL", "NULL"),
    (T.CHAR(3), "CHAR(3)", "CHAR(3)"),
    (T.VARCHAR(10, False), "VARCHAR(10) NOT NULL", "VARCHAR(10) NOT NULL"),
    (T.STRING(), "STRING", "VARCHAR(2147483647)"),
    (T.BOOLEAN(False), "BOOLEAN NOT NULL", "BOOLEAN NOT NULL"),
    (T.BINARY(2), "BINARY(2)", "BINARY(2)"),
    (T.VARBINARY(2), "VARBINARY(2)", "VARBINARY(2)"),
    (T.BYTES(), "BYTES", "VARBINARY(2147483647)"),
    (T.DECIMAL(10, 2), "DECIMAL(10, 2)", "DECIMAL(10, 2)"),
    (T.TINYINT(), "TINYINT", "TINYINT"),
    (T.SMALLINT(), "SMALLINT", "SMALLINT"),
    (T.INT(), "INT", "INT"),
    (T.BIGINT(), "BIGINT", "BIGINT"),
    (T.FLOAT(), "FLOAT", "FLOAT"),
    (T.DOUBLE(), "DOUBLE", "DOUBLE"),
    (T.DATE(), "DATE", "DATE"),
    (T.TIME(), "TIME(0)", "TIME(0)"),
    (T.TIMESTAMP(3), "TIMESTAMP(3)", "TIMESTAMP(3)"),
    (T.TIMESTAMP_LTZ(), "TIMESTAMP_LTZ(6)", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    (ZonedTimestampType(3), "TIMESTAMP(3) WITH TIME ZONE", "TIMESTAMP(3) WITH TIME ZONE"),
    (T.INTERVAL(T.YEAR()), "INTERVAL YEAR(2)", "INTERVAL YEAR(2)"),
    (T.INTERVAL(T.MONTH()), "INTERVAL MONTH", "INTERVAL MONTH"),
    (T.INTERVAL(T.YEAR(3), T.MONTH()), "INTERVAL YEAR(3) TO MONTH", "INTERVAL YEAR(3) TO MONTH"),
    (T.INTERVAL(T.DAY()), "INTERVAL DAY(2)", "INTERVAL DAY(2)"),
    (T.INTERVAL(T.DAY(), T.SECOND(3)), "INTERVAL DAY(2) TO SECOND(3)", "INTERVAL DAY(2) TO SECOND(3)"),
    (T.INTERVAL(T.HOUR(), T.MINUTE()), "INTERVAL HOUR TO MINUTE", "INTERVAL HOUR TO MINUTE"),
    (T.INTERVAL(T.SECOND()), "INTERVAL SECOND(6)", "INTERVAL SECOND(6)"),
    (T.ARRAY(T.STRING()), "ARRAY<STRING>", "ARRAY<VARCHAR(2147483647)>"),
    (T.MULTISET(T.INT(False)), "MULTISET<INT NOT NULL>", "MULTISET<INT NOT NULL>"),
    (T.MAP(T.INT(), T.DATE()), "MAP<INT, DATE>", "MAP<INT, DATE>"),
    (T.ROW([T.FIELD("a b", T.INT())]), "ROW<`a b` INT>", "ROW<`a b` INT>"),
    (T.ROW(), "ROW<>", "ROW<>"),
    (VariantType(), "VARIANT", "VARIANT"),
]


@pytest.mark.parametrize(("data_type", "summary", "serializable"), TEXTS)
def test_text_forms_and_back(data_type: DataType, summary: str, serializable: str) -> None:
    assert data_type.as_summary_string() == summary
    assert data_type.as_serializable_string() == serializable
    assert parse_type(serializable) == data_type
    assert parse_type(summary.lower()) == data_type
    assert pickle.loads(pickle.dumps(data_type)) == data_type


@pytest.mark.parametrize(
    ("data_type", "shown"),
    [
        (T.INT(), "IntType(true)"),
        (T.CHAR(5, False), "CharType(5, false)"),
        (T.DECIMAL(10, 2), "DecimalType(10, 2, true)"),
        (T.ARRAY(T.INT()), "ArrayType(IntType(true), true)"),
        (T.MAP(T.INT(), T.STRING()), "MapType(IntType(true), VarCharType(2147483647, true), true)"),
        (T.ROW([T.FIELD("a", T.INT(), "d")]), "RowType(RowField(a, IntType(true), d))"),
        (T.LIST_VIEW(T.INT()), "ListViewType(IntType(true))"),
        (T.INTERVAL(T.DAY()), "DayTimeIntervalType(true)"),
    ],
)
def test_repr_is_that_of_pyflink(data_type: DataType, shown: str) -> None:
    assert repr(data_type) == shown


def test_str_is_the_name_as_in_pyflink() -> None:
    assert [str(T.INT()), str(T.STRING()), str(T.TIMESTAMP_LTZ())] == ["INT", "VARCHAR", "LOCALZONEDTIMESTAMP"]


def test_types_do_not_change() -> None:
    integer = T.INT()
    with pytest.raises(AttributeError, match="types do not change"):
        integer.length = 3  # type: ignore[attr-defined]
    assert integer.not_null() == IntType(False)
    assert integer == IntType()
    assert {T.INT(): 1}[IntType()] == 1


def test_a_row_type_grows_only_while_it_is_made() -> None:
    row = RowType().add("a", T.INT()).add(T.FIELD("b", T.STRING()))
    assert row == T.ROW([T.FIELD("a", T.INT()), T.FIELD("b", T.STRING())])
    assert (row["b"].data_type, row[0].name, row[1:].names, len(row)) == (T.STRING(), "a", ["b"], 2)
    hash(row)
    with pytest.raises(ProgramError, match="in use already"):
        row.add("c", T.INT())


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.DECIMAL(39, 0),
        lambda: T.DECIMAL(5, 6),
        lambda: T.TIMESTAMP(10),
        lambda: T.CHAR(-1),
        lambda: T.ARRAY("INT"),  # type: ignore[arg-type]
        lambda: T.INTERVAL(T.MONTH(), T.DAY()),
        lambda: parse_type("INTT"),
        lambda: parse_type("ARRAY<INT"),
        lambda: parse_type("INT INT"),
        lambda: parse_type("ROW<INT>"),
    ],
)
def test_impossible_types_are_refused(make: object) -> None:
    with pytest.raises(ProgramError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    "data_type",
    [data_type for data_type, _, _ in TEXTS if not isinstance(data_type, (ZonedTimestampType, VariantType))],
)
def test_every_type_has_an_arrow_column(data_type: DataType) -> None:
    assert pa.nulls(2, to_arrow_type(data_type)).null_count == 2


def test_arrow_types_become_types() -> None:
    schema = create_arrow_schema(["a", "b"], [T.INT(False), T.TIMESTAMP(3)])
    assert schema == pa.schema([pa.field("a", pa.int32(), False), pa.field("b", pa.timestamp("ms"))])
    for kind in (T.BIGINT(), T.DECIMAL(5, 2), T.STRING(), T.TIME(3), T.ARRAY(T.INT()), T.ROW([T.FIELD("x", T.INT())])):
        assert from_arrow_type(to_arrow_type(kind)) == kind
    assert from_arrow_type(pa.timestamp("us", "UTC")) == T.TIMESTAMP_LTZ(6)
    with pytest.raises(NotSupportedError):
        from_arrow_type(pa.uint64())


def test_values_go_to_sql_and_back() -> None:
    row = T.ROW([T.FIELD("d", T.DATE()), T.FIELD("a", T.ARRAY(T.TIME())), T.FIELD("t", T.TIMESTAMP())])
    value = Row(d=datetime.date(2024, 2, 29), a=[datetime.time(1, 2, 3)], t=datetime.datetime(2024, 1, 1, 0, 0, 1))
    plain = row.to_sql_type(value)
    assert plain == (0, 19782, [3_723_000_000], 1_704_067_201_000_000)
    assert row.from_sql_type(plain[1:]) == value


def test_bridging_to_java_changes_nothing() -> None:
    with pytest.warns(UserWarning, match="no Java"):
        assert T.INT().bridged_to("java.lang.Integer") == T.INT()


def test_parameters_of_types_have_pyflinks_names() -> None:
    assert (VarCharType(5).length, DecimalType(7, 2).precision, BigIntType().type_name()) == (5, 7, "BIGINT")
