"""Joins, windows, OVER and MATCH_RECOGNIZE on files, and what the real Flink 2.3 gives for each (recorded.txt).

Which of two inputs comes first is a race in Flink, so that the tables that the changelogs describe are compared.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment

HERE = Path(__file__).parent


def recorded() -> list[tuple[str, list[str]]]:
    parts = (HERE / "recorded.txt").read_text("utf-8").split("##SQL ")[1:]
    return [(lines[0], lines[1:]) for lines in (part.splitlines() for part in parts)]


CREATES = [statement for statement, _ in recorded() if statement.startswith("CREATE")]
QUERIES = [(statement, lines) for statement, lines in recorded() if not statement.startswith("CREATE")]


@pytest.fixture(scope="module")
def session() -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1_000, False))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    for statement in CREATES:
        session.execute_sql(statement.replace("{dir}", str(HERE)))
    return session


def described(changes: Iterable[tuple[str, tuple[object, ...]]]) -> Counter[tuple[object, ...]]:
    table: Counter[tuple[object, ...]] = Counter()
    for kind, row in changes:
        table[row] += 1 if kind.startswith("+") else -1
    assert all(count >= 0 for count in table.values()), "a row was taken back that was not there"
    return +table


@pytest.mark.parametrize(("statement", "lines"), QUERIES, ids=[f"q{number}" for number in range(len(QUERIES))])
def test_table_is_that_of_flink(session: StreamTableEnvironment, statement: str, lines: list[str]) -> None:
    expected = described((line[:2], ast.literal_eval(line[3:])) for line in lines)
    with session.execute_sql(statement).collect() as rows:
        found = [
            (str(row.get_row_kind()), tuple(None if value is None else str(value) for value in row)) for row in rows
        ]
    assert described(found) == expected
