"""Queries and what the real Flink 2.3 prints for them, changelogs included (flink_queries.txt)."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment

PARTS = Path(__file__).with_name("flink_queries.txt").read_text("utf-8").split("##SQL ")[1:]
QUERIES = [(query, printed) for query, _, printed in (part.partition("\n") for part in PARTS)]


def test_queries_print_what_flink_prints(capsys: pytest.CaptureFixture[str]) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1_000, False))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    wrong = []
    for query, expected in QUERIES:
        session.execute_sql(query).print()
        printed = capsys.readouterr().out
        if printed != expected:
            wrong.append(f"{query}\nexpected:\n{expected}\nprinted:\n{printed}")
    assert not wrong, "\n\n".join(wrong)
    assert len(QUERIES) >= 75
