"""How expressions are evaluated: branches only where they are needed, results independent of batches."""

from __future__ import annotations

import datetime
import gc
import pickle
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.table.interpreter import evaluate, texts

from penstock.columns.functions.registry import BY_NAME
from penstock.columns.kernels.datum import Datum, Invocation, Session
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typed.nodes import Constant, Invoke
from penstock.columns.typesystem.data_types import DataTypes

NUMBERS = {"t": pa.table({"i": pa.array([1, 0, None, 4], pa.int32()), "s": ["5", "x", None, "7"]})}


def column(sql: str, tables: dict[str, pa.Table] | None = None) -> list[object]:
    return list(evaluate(sql, tables or NUMBERS).column(0).to_pylist())


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("CASE WHEN i > 0 THEN 8 / i ELSE -1 END", [8, -1, -1, 2]),
        ("CASE WHEN s <> 'x' THEN CAST(s AS INT) END", [5, None, None, 7]),
        ("i <> 0 AND 8 / i > 3", [True, False, None, False]),
        ("i = 0 OR 8 / i > 3", [True, True, None, False]),
        ("COALESCE(NULLIF(i, 0), CAST('9' AS INT))", [1, 9, 9, 4]),
        ("IF(s = 'x', 0, CAST(s AS INT))", [5, 0, None, 7]),
        ("COALESCE(i, 8 / 0)", None),
    ],
)
def test_a_branch_that_is_not_taken_cannot_fail(expression: str, values: list[object] | None) -> None:
    if values is None:
        with pytest.raises(ValueFailure, match="by zero"):
            column(f"SELECT {expression} FROM t")
    else:
        assert column(f"SELECT {expression} FROM t") == values


def test_what_fails_says_why() -> None:
    with pytest.raises(ValueFailure, match="Cannot parse 'x' as INT: TRY_CAST gives NULL"):
        column("SELECT CAST(s AS INT) FROM t")
    with pytest.raises(ValueFailure, match="/ by zero: guard the division"):
        column("SELECT 1 / i FROM t")


def test_filters_drop_what_is_null() -> None:
    assert column("SELECT i FROM t WHERE i > 0") == [1, 4]
    assert column("SELECT i FROM t WHERE NOT i > 0") == [0]
    assert column("SELECT i FROM t UNION ALL SELECT i + 1 FROM t LIMIT 5 OFFSET 1") == [0, None, 4, 2, 1]


QUERY = """SELECT i + 1, c * 1.10, CASE WHEN i > 2 THEN UPPER(s) ELSE s END, SPLIT_INDEX(s, ',', 0), CAST(d AS STRING),
 COALESCE(i, -1), i > 1 AND s LIKE 'a%', CAST(c AS DECIMAL(10, 1)), i IN (1, NULL), ROW(i, s), ARRAY[i] FROM t"""
SCHEMA = pa.schema(
    [("i", pa.int32()), ("c", pa.decimal128(12, 2)), ("s", pa.string()), ("d", pa.float64())]
)  # fmt: skip
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-5, 5),
        st.none() | st.decimals(-(10**9), 10**9, allow_nan=False, places=2),
        st.none() | st.text("ab,ß", max_size=4),
        st.none() | st.floats(allow_nan=False),
    ),
    max_size=12,
)


def table(rows: list[tuple[object, ...]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, data=st.data())
def test_results_do_not_depend_on_where_batches_are_cut(rows: list[tuple[object, ...]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    whole = texts(QUERY, {"t": table(rows)})
    assert texts(QUERY, {"t": table(rows[:cut])}) + texts(QUERY, {"t": table(rows[cut:])}) == whole


ZONED = Session.at(datetime.datetime(2024, 7, 1, 12, 30, tzinfo=datetime.UTC), "Europe/Berlin")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("CURRENT_TIMESTAMP", "2024-07-01 14:30:00.000"),
        ("LOCALTIMESTAMP", "2024-07-01 14:30:00.000"),
        ("CURRENT_DATE", "2024-07-01"),
        ("LOCALTIME", "14:30:00"),
        ("UNIX_TIMESTAMP()", "1719837000"),
        ("FROM_UNIXTIME(0)", "1970-01-01 01:00:00"),
        ("UNIX_TIMESTAMP('1970-01-01 01:00:00')", "0"),
        ("CAST(TO_TIMESTAMP_LTZ(0, 3) AS TIMESTAMP(3))", "1970-01-01 01:00:00.000"),
        ("CAST(TIMESTAMP '2024-03-31 02:30:00' AS TIMESTAMP_LTZ(0))", "2024-03-31 03:30:00"),
        ("EXTRACT(HOUR FROM TO_TIMESTAMP_LTZ(0, 3))", "1"),
        ("DATE_FORMAT(TO_TIMESTAMP_LTZ(0, 3), 'HH:mm VV')", "01:00 Europe/Berlin"),
        ("FLOOR(TO_TIMESTAMP_LTZ(0, 3) TO DAY)", "1970-01-01 00:00:00.000"),
    ],
)
def test_the_session_has_a_zone_and_a_clock(expression: str, value: str) -> None:
    assert texts(f"SELECT {expression}", session=ZONED) == [[value]]


def test_arithmetic_of_decimals_is_exact_for_large_numbers() -> None:
    wide = pa.table({"c": pa.array(["99999999999999999999.5", "-0.5"]).cast(pa.decimal128(30, 1))})
    assert column("SELECT c * 1.5 FROM t", {"t": wide})[0].__str__() == "149999999999999999999.25"
    assert column("SELECT c + c FROM t", {"t": wide})[1].__str__() == "-1.0"
    assert column("SELECT CAST(c AS DECIMAL(10, 0)) FROM t", {"t": wide})[0] is None


@pytest.mark.parametrize(
    "expression",
    [
        "REGEXP_EXTRACT(s, '(&|^)id=([^&]*)', 2)",
        "REGEXP_EXTRACT(s, '(a)|(b)', 2)",
        "REGEXP_EXTRACT(s, '[(]x(.)', 1)",
        "REGEXP_EXTRACT(s, 'b(?=c)', 0)",
        "REGEXP_EXTRACT(s, 'i.')",
        "REGEXP(s, '^a.*c$')",
        "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')",
        "DATE_FORMAT(ts, 'dd.MM.yyyy ''at'' HH''h''')",
        "DATE_FORMAT(ts, 'yyyy SSS')",
        "SUBSTRING(s, 2, 3)",
        "SPLIT_INDEX(s, '&', 1)",
        "UPPER(s)",
        "s LIKE 'a%'",
        "CAST(d AS STRING)",
        "ROUND(d, 2)",
        "c * 1.5",
        "c + c",
    ],
)
def test_whole_columns_and_single_values_agree(expression: str) -> None:
    """Kernels have fast ways for columns; a column of one row in a constant is the slow way."""
    moments = [0, 1_700_000_000_123, None, -62_000_000_000_000]
    given = pa.table(
        {
            "s": ["a&id=7&x", "(xbc", None, "id=&ß"],
            "ts": pa.array(moments, pa.timestamp("ms")),
            "d": [1.005, 1e9, None, -0.0001],
            "c": pa.array(["12345678901234567.89", "-0.01", None, "2.50"]).cast(pa.decimal128(30, 2)),
        }
    )
    whole = [row[0] for row in texts(f"SELECT {expression} FROM t", {"t": given})]
    literals = {
        "s": ["'a&id=7&x'", "'(xbc'", "CAST(NULL AS STRING)", "'id=&ß'"],
        "ts": [
            "TIMESTAMP '1970-01-01 00:00:00.000'",
            "TIMESTAMP '2023-11-14 22:13:20.123'",
            "CAST(NULL AS TIMESTAMP(3))",
            "TIMESTAMP '0005-04-19 09:46:40.000'",
        ],
        "d": ["1.005e0", "1e9", "CAST(NULL AS DOUBLE)", "-1e-4"],
        "c": [
            "CAST('12345678901234567.89' AS DECIMAL(30, 2))",
            "CAST('-0.01' AS DECIMAL(30, 2))",
            "CAST(NULL AS DECIMAL(30, 2))",
            "CAST('2.50' AS DECIMAL(30, 2))",
        ],
    }
    single = []
    for place in range(4):
        columns = ", ".join(f"{values[place]} AS {name}" for name, values in literals.items())
        single.append(texts(f"SELECT {expression} FROM (SELECT {columns})")[0][0])
    assert whole == single


def test_what_is_written_twice_is_computed_once_unless_chance_decides() -> None:
    found = evaluate("SELECT UUID(), UUID(), i + 1, i + 1 FROM t", NUMBERS)
    assert found.column(0) != found.column(1)
    assert found.column(2) == found.column(3)


def _rows_seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call of REGEXP_EXTRACT gets."""
    seen: list[int] = []
    known = BY_NAME["regexpExtract"]
    assert known.kernel is not None
    kernel = known.kernel

    def counted(call: Invocation) -> Datum:
        seen.append(call.rows)
        return kernel(call)

    monkeypatch.setitem(BY_NAME, "regexpExtract", replace(known, kernel=counted))
    return seen


def test_regular_expressions_see_the_rows_that_nothing_else_decides_and_see_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = _rows_seen(monkeypatch)
    given = {"t": pa.table({"s": ["id=1", "x", "id=3", None, "x"], "c": ["a", "B", "c", "b", None]})}
    found = "REGEXP_EXTRACT(s, 'id=(.)', 1)"
    chosen = f"{found} IS NOT NULL OR LOWER(c) IN ('a', 'b')"
    assert column(f"SELECT {chosen} FROM t", given) == [True, True, True, True, None]
    assert seen == [2]
    seen.clear()
    shown = f"SELECT COALESCE({chosen}, FALSE), CASE WHEN LOWER(c) IN ('a', 'b') THEN c ELSE {found} END FROM t"
    assert evaluate(shown, given).column(1).to_pylist() == ["a", "B", "3", "b", None]
    assert seen == [2]


def test_columns_are_free_as_soon_as_nobody_needs_them() -> None:
    given = {"t": pa.table({"s": ["id=1", "x"] * 50_000, "c": ["a", "b"] * 50_000})}
    gc.collect()
    gc.disable()
    try:
        before = pa.total_allocated_bytes()
        column("SELECT REGEXP_EXTRACT(s, 'id=(.)', 1) IS NOT NULL OR LOWER(c) = 'a' FROM t", given)
        assert pa.total_allocated_bytes() - before < 10_000
    finally:
        gc.enable()


def test_operands_that_can_fail_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _rows_seen(monkeypatch)
    assert column("SELECT REGEXP_EXTRACT(s, '5') IS NOT NULL OR CAST(i AS STRING) = '4' FROM t") == [
        True, False, None, True,
    ]  # fmt: skip
    assert seen == [4]


def test_a_pickled_expression_does_not_take_its_hash_along() -> None:
    node = Invoke(DataTypes.BOOLEAN(), "isNull", (Constant(DataTypes.STRING(), "x"),))
    hash(node), node.arguments[0].datum  # type: ignore[attr-defined]
    copy = pickle.loads(pickle.dumps(node))
    assert copy == node
    assert vars(copy).keys() == {"data_type", "function", "arguments", "options"}
    assert vars(copy.arguments[0]).keys() == {"data_type", "value"}
