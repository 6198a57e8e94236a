"""Subqueries wherever an expression can stand, tied to the query around them in any way: the rows that SQLite gives."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

import pytest
from tests.unit.table.sql_runs import Change, changelog_of, rows

from penstock.common.errors import ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import DataTypes

A = [(1, 10, "x"), (2, 20, "y"), (3, None, "x"), (4, 10, "z"), (5, 50, None), (5, 50, None)]
C = [(1, 10), (3, 30), (5, 50), (5, None), (7, 10)]
TABLES = {
    "A": rows({"id": DataTypes.INT(), "v": DataTypes.INT(), "s": DataTypes.STRING()}, *A),
    "C": rows({"id": DataTypes.INT(), "w": DataTypes.INT()}, *C),
}
QUERIES = [
    # below OR, NOT and CASE, and as values
    "SELECT id FROM A WHERE id IN (SELECT id FROM C) OR s = 'z'",
    "SELECT id FROM A WHERE v NOT IN (SELECT w FROM C WHERE w IS NOT NULL) OR s = 'x'",
    "SELECT id FROM A WHERE NOT (v IN (SELECT w FROM C) OR s = 'z')",
    "SELECT id, v IN (SELECT w FROM C) AS m FROM A",
    "SELECT id, v NOT IN (SELECT w FROM C) AS m FROM A",
    "SELECT id, v IN (SELECT w FROM C WHERE w > 1000) AS m FROM A",
    "SELECT id, v IN (SELECT w FROM C WHERE C.id = A.id) AS m FROM A",
    "SELECT id, EXISTS (SELECT 1 FROM C WHERE C.id = A.id) AS m FROM A",
    "SELECT id FROM A WHERE NOT EXISTS (SELECT 1 FROM C WHERE C.id = A.id) OR v = 10",
    "SELECT id FROM A WHERE CASE WHEN id IN (SELECT id FROM C) THEN v > 10 ELSE v = 10 END",
    "SELECT SUM(CASE WHEN id IN (SELECT id FROM C) THEN 1 ELSE 0 END) FROM A",
    "SELECT COUNT(*) FILTER (WHERE id IN (SELECT id FROM C)) FROM A",
    # aggregates, also of no rows, tied by more than equalities
    "SELECT id, (SELECT COUNT(*) FROM C WHERE C.id = A.id) AS n FROM A",
    "SELECT id, (SELECT COUNT(*) + 1 FROM C WHERE C.id = A.id) AS n FROM A",
    "SELECT id FROM A WHERE (SELECT COUNT(*) FROM C WHERE C.id = A.id) = 0",
    "SELECT id, (SELECT MAX(w) FROM C WHERE C.id > A.id) AS n FROM A",
    "SELECT id, (SELECT COUNT(w) FROM C WHERE C.id > A.id AND C.w <> A.v) AS n FROM A",
    "SELECT id FROM A WHERE v > (SELECT AVG(w) FROM C WHERE C.id <> A.id)",
    "SELECT id FROM A WHERE EXISTS (SELECT id FROM C WHERE C.w >= A.v GROUP BY id HAVING COUNT(*) > 1)",
    "SELECT id, (SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM C WHERE C.w = A.v GROUP BY id)) AS n FROM A",
    "SELECT id FROM A WHERE EXISTS (SELECT COUNT(*) FROM C WHERE C.id = A.id)",
    "SELECT id FROM A WHERE 0 IN (SELECT COUNT(*) FROM C WHERE C.id = A.id)",
    "SELECT id, (SELECT SUM(n) + 1 FROM (SELECT COUNT(*) AS n FROM C WHERE C.w = A.v)) AS n FROM A",
    "SELECT id, (SELECT COUNT(*) FROM C WHERE C.id = A.id HAVING COUNT(*) < 2) AS n FROM A",
    # below joins, unions and limits
    "SELECT id FROM A WHERE id IN (SELECT C.id FROM C JOIN A AS B ON C.id = B.id WHERE B.v = A.v)",
    "SELECT id FROM A WHERE EXISTS (SELECT 1 FROM C JOIN A AS B ON C.id = B.id AND B.id = A.id)",
    "SELECT id FROM A WHERE EXISTS (SELECT 1 FROM A AS B LEFT JOIN C ON C.id = B.id AND C.w = A.v WHERE C.id IS NULL)",
    "SELECT id FROM A WHERE EXISTS (SELECT 1 FROM C WHERE C.id = A.id UNION ALL SELECT 1 FROM C WHERE C.w = A.v)",
    "SELECT id FROM A WHERE EXISTS (SELECT 1 FROM C WHERE C.id = A.id LIMIT 1)",
    "SELECT id, (SELECT w FROM C WHERE C.id >= A.id ORDER BY w DESC NULLS LAST LIMIT 1) AS n FROM A",
    # of the outermost query, two queries further in
    "SELECT id FROM A WHERE EXISTS (SELECT 1 FROM C WHERE C.id = A.id AND EXISTS"
    " (SELECT 1 FROM A AS B WHERE B.v = C.w AND B.s = A.s))",
    "SELECT id, (SELECT MAX(w) FROM C WHERE C.w > (SELECT MIN(B.v) FROM A AS B WHERE B.id >= A.id)) AS n FROM A",
    "SELECT id FROM A WHERE id IN (SELECT C.id FROM C WHERE C.w IN (SELECT B.v FROM A AS B WHERE B.id = A.id))",
    # of groups and joins
    "SELECT s, COUNT(*) FROM A GROUP BY s HAVING COUNT(*) IN (SELECT id FROM C)",
    "SELECT s, COUNT(*) FROM A GROUP BY s HAVING COUNT(*) > (SELECT COUNT(*) - 4 FROM C)",
    "SELECT id, SUM(v) FROM A GROUP BY id HAVING EXISTS (SELECT 1 FROM C WHERE C.id = A.id)",
    "SELECT A.id, C.w FROM A JOIN C ON A.id = C.id AND A.v IN (SELECT w FROM C)",
    "SELECT A.id, C.w FROM A LEFT JOIN C ON A.id = C.id AND C.w IN (SELECT v FROM A)",
    "SELECT A.id, C.w FROM A LEFT JOIN C ON A.id = C.id AND A.v NOT IN"
    " (SELECT v FROM A AS B WHERE B.s = A.s AND v > 10)",
]
BEYOND_SQLITE = [  # quantified comparisons, LATERAL, and what they mean
    ("SELECT id FROM A WHERE v > ANY (SELECT w FROM C) OR id = 1",
     "SELECT id FROM A WHERE v > (SELECT MIN(w) FROM C) OR id = 1"),
    ("SELECT id FROM A WHERE v >= ALL (SELECT w FROM C WHERE w < 50) OR id = 1",
     "SELECT id FROM A WHERE v >= 30 OR id = 1"),
    ("SELECT id, v = ALL (SELECT w FROM C WHERE w = 10) FROM A", "SELECT id, v = 10 FROM A"),
    ("SELECT id, v <> ANY (SELECT w FROM C WHERE w < 40) FROM A",
     "SELECT id, CASE WHEN v IS NULL THEN NULL ELSE 1 END FROM A"),
    ("SELECT A.id, L.w FROM A, LATERAL (SELECT w FROM C WHERE C.id >= A.id ORDER BY w LIMIT 1) AS L",
     "SELECT A.id, (SELECT w FROM C WHERE C.id >= A.id ORDER BY w NULLS FIRST LIMIT 1) FROM A"),
    ("SELECT A.id, L.n FROM A LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM C WHERE C.id = A.id) AS L ON TRUE",
     "SELECT A.id, (SELECT COUNT(*) FROM C WHERE C.id = A.id) FROM A"),
    ("SELECT id FROM A WHERE 2 IN (SELECT x FROM UNNEST(ARRAY[A.id, A.v]) AS T(x))",
     "SELECT id FROM A WHERE id = 2 OR v = 2"),
]  # fmt: skip


def final(changes: list[Change]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for kind, row in changes:
        if kind in ("+I", "+U"):
            found[row] += 1
        else:
            assert found[row] > 0, f"{row} is taken back before it is there"
            found[row] -= 1
    return +found


def of_sqlite(sql: str) -> Counter[tuple[Any, ...]]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE A (id INT, v INT, s TEXT)")
    database.execute("CREATE TABLE C (id INT, w INT)")
    database.executemany("INSERT INTO A VALUES (?, ?, ?)", A)
    database.executemany("INSERT INTO C VALUES (?, ?)", C)
    return Counter(map(tuple, database.execute(sql)))


@pytest.mark.parametrize(("sql", "same"), [*((sql, sql) for sql in QUERIES), *BEYOND_SQLITE], ids=lambda text: text)
def test_rows_are_those_of_a_database(sql: str, same: str) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(2, True))
    env.set_parallelism(2)
    assert final(changelog_of(env, sql, TABLES)) == of_sqlite(same)


def test_a_subquery_of_an_outer_join_reads_one_side() -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(2, True))
    sql = "SELECT A.id FROM A LEFT JOIN C ON A.id = C.id AND A.v + C.w IN (SELECT w FROM C)"
    with pytest.raises(ProgramError, match="reads columns of both sides"):
        changelog_of(env, sql, TABLES)
