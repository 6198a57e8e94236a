"""What is written twice in a query is computed once, and gives what it gave before."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment
from penstock.table.physical.planner import Planner

COUNTS = "SELECT k, COUNT(*) AS n FROM numbers GROUP BY k"
ROWS = "(1, 'a'), (2, 'a'), (3, 'b'), (4, 'b'), (5, 'b')"
QUERIES = {
    f"SELECT x.k, x.n, y.n FROM ({COUNTS}) x JOIN ({COUNTS}) y ON x.k = y.k": [("a", 2, 2), ("b", 3, 3)],
    "SELECT x.id, y.id FROM numbers x JOIN numbers y ON x.k = y.k AND x.id < y.id": [
        (1, 2), (3, 4), (3, 5), (4, 5),
    ],
    f"SELECT * FROM ({COUNTS}) UNION ALL SELECT * FROM ({COUNTS})": [("a", 2), ("a", 2), ("b", 3), ("b", 3)],
    f"SELECT MAX(n) FROM ({COUNTS})": [(3,)],
}  # fmt: skip


@pytest.fixture(params=[1, 3])
def session(request: pytest.FixtureRequest) -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(2, True))
    env.set_parallelism(request.param)
    session = StreamTableEnvironment.create(env)
    session.execute_sql(f"CREATE TEMPORARY VIEW numbers AS SELECT * FROM (VALUES {ROWS}) AS t (id, k)")
    return session


@pytest.mark.parametrize("query", list(QUERIES))
def test_tables_are_the_same(session: StreamTableEnvironment, query: str) -> None:
    table: Counter[tuple[Any, ...]] = Counter()
    with session.execute_sql(query).collect() as rows:
        for row in rows:
            table[tuple(row)] += 1 if str(row.get_row_kind()).startswith("+") else -1
    assert sorted((+table).elements()) == QUERIES[query]


def operators(monkeypatch: pytest.MonkeyPatch, session: StreamTableEnvironment, query: str, kind: str) -> int:
    made: list[str] = []
    original = Planner.operator

    def noting(self: Planner, relation: Any, kind: str, *args: Any, **more: Any) -> Any:
        made.append(kind)
        return original(self, relation, kind, *args, **more)

    monkeypatch.setattr(Planner, "operator", noting)
    with session.execute_sql(query).collect() as rows:
        list(rows)
    return made.count(kind)


@pytest.mark.parametrize(
    ("column", "expected"), [("CHAR_LENGTH(k)", 1), ("CAST(RAND() * 0 AS INT)", 2)], ids=["same", "random"]
)
def test_only_what_says_always_the_same_is_shared(
    monkeypatch: pytest.MonkeyPatch, session: StreamTableEnvironment, column: str, expected: int
) -> None:
    counts = f"SELECT g, COUNT(*) AS n FROM (SELECT {column} AS g FROM numbers) GROUP BY g"
    query = f"SELECT x.g, x.n, y.n FROM ({counts}) x JOIN ({counts}) y ON x.g = y.g"
    assert operators(monkeypatch, session, query, "table_group_aggregate") == expected
