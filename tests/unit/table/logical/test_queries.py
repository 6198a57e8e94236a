"""Plans of queries: columns and changelog kinds are those of Flink 2.3 (recorded), the tree is ours.

Left out of the file, because Penstock differs on purpose: a function of a time attribute, as MAX(ts) or ts + INTERVAL,
is no time attribute here, while Flink's schema still calls it one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.table.sample_tables import TABLES

from penstock.table.logical.changelog import kinds
from penstock.table.logical.explain import explain, schema_text
from penstock.table.logical.planning import plan_sql
from penstock.table.logical.upsert_keys import upsert_keys
from penstock.table.sql.errors import SqlValidationError

FOLDER = Path(__file__).parent


def blocks(file: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in (FOLDER / file).read_text().splitlines():
        if line.startswith("  "):
            found[-1][1].append(line[2:])
        else:
            found.append((line, []))
    return found


@pytest.mark.parametrize(("sql", "expected"), blocks("queries.txt"))
def test_a_query_becomes_its_plan(sql: str, expected: list[str]) -> None:
    relation = plan_sql(sql, TABLES)
    assert [schema_text(relation), "".join(sorted(kinds(relation))), *explain(relation).splitlines()] == expected


@pytest.mark.parametrize(("sql", "expected"), blocks("refusals.txt"))
def test_a_query_that_makes_no_sense_is_refused(sql: str, expected: list[str]) -> None:
    with pytest.raises(Exception) as refused:  # noqa: B017 (the message is what matters)
        plan_sql(sql, TABLES)
    assert str(refused.value).splitlines()[0] == expected[0]


def test_the_message_shows_the_place_and_the_nearest_name() -> None:
    with pytest.raises(SqlValidationError) as refused:
        plan_sql("SELECT id,\n  amnt FROM orders", TABLES)
    assert str(refused.value).splitlines() == [
        "There is no column 'amnt'. Did you mean 'amount'? (line 2, column 3)",
        "    amnt FROM orders",
        "    ^",
    ]


def test_unknown_functions_and_tables_get_a_suggestion() -> None:
    with pytest.raises(SqlValidationError, match="Did you mean 'UPPER'"):
        plan_sql("SELECT UPER(uname) FROM orders", TABLES)
    with pytest.raises(SqlValidationError, match="Did you mean 'orders'"):
        plan_sql("SELECT * FROM order_", TABLES)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE accounts, DESCRIPTOR(aid), INTERVAL '1' HOUR))",
            "TUMBLE needs a time attribute",
        ),
        ("SELECT * FROM users JOIN orders USING (nosuch)", "USING: there is no column 'nosuch'"),
        ("VALUES (1), (2, 3)", "different lengths"),
    ],
)
def test_more_refusals(sql: str, message: str) -> None:
    with pytest.raises(SqlValidationError, match=message):
        plan_sql(sql, TABLES)


def test_time_is_kept_by_columns_only() -> None:
    relation = plan_sql(
        "SELECT ts, ts + INTERVAL '1' DAY AS later, CAST(ts AS TIMESTAMP(3)) AS again FROM orders", TABLES
    )
    assert schema_text(relation) == "(ts TIMESTAMP(3) *ROWTIME*, later TIMESTAMP(3), again TIMESTAMP(3))"


def test_updates_are_refused_where_only_inserts_can_be_taken() -> None:
    with pytest.raises(SqlValidationError, match="OVER does not take updates or deletions, which Aggregation produces"):
        kinds(
            plan_sql(
                "SELECT c, SUM(c) OVER (ORDER BY window_time) FROM (SELECT window_time, uname, COUNT(*) AS c"
                " FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_time, uname)",
                TABLES,
            )
        )


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT * FROM users", [{0}]),
        ("SELECT name, uid FROM users WHERE city = 'x'", [{1}]),
        ("SELECT name FROM users", []),
        ("SELECT uname, COUNT(*) FROM orders GROUP BY uname", [{0}]),
        ("SELECT COUNT(*) FROM orders", [set()]),
        ("SELECT * FROM orders o JOIN users u ON o.id = u.uid", []),
        ("SELECT * FROM accounts a JOIN users u ON a.aid = u.uid", [{0}, {2}, {0, 2}]),
        ("SELECT * FROM accounts a LEFT JOIN users u ON a.aid = u.uid", [{0}, {0, 2}]),
        ("SELECT * FROM accounts a JOIN users u ON a.owner = u.name", [{0, 2}]),
    ],
)
def test_upsert_keys(sql: str, keys: list[set[int]]) -> None:
    assert upsert_keys(plan_sql(sql, TABLES)) == frozenset(frozenset(key) for key in keys)


def test_an_insert_fits_the_sink_or_says_what_does_not() -> None:
    sink = plan_sql("INSERT INTO accounts SELECT id, uname FROM orders WHERE id IS NOT NULL", TABLES)
    assert explain(sink).splitlines()[0] == "Sink(table=[accounts], fields=[aid, owner])"
    with pytest.raises(SqlValidationError, match="takes 2 columns here, but the query gives 1"):
        plan_sql("INSERT INTO accounts SELECT id FROM orders", TABLES)
    with pytest.raises(
        SqlValidationError, match="Column 'aid' of 'accounts' is INT NOT NULL, but the query gives STRING"
    ):
        plan_sql("INSERT INTO accounts SELECT uname, uname FROM orders", TABLES)
    with pytest.raises(SqlValidationError, match="no column 'ownr' in 'accounts'. Did you mean 'owner'"):
        plan_sql("INSERT INTO accounts (aid, ownr) SELECT id, uname FROM orders", TABLES)
    partial = plan_sql("INSERT INTO accounts (aid) SELECT id FROM orders", TABLES)
    assert "NULL AS owner" in explain(partial)
