"""Changelogs that the real Flink 2.3 gave for queries over one table (flink_changelogs.txt): the same, row by row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.unit.table.sql_runs import KINDS, Change

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import DataTypes, StreamTableEnvironment

RECORDED = Path(__file__).with_name("flink_changelogs.txt")
ROWS = [
    (1, 10, 1.5, "a"), (2, 20, 2.5, "b"), (1, 31, 7.0, "c"), (1, 5, 0.25, "a"), (2, None, 4.0, None),
    (1, 10, 1.5, "a"), (3, 7, -1.0, "z"), (2, 20, 2.5, "b"),
]  # fmt: skip
TYPE = DataTypes.ROW(
    [
        DataTypes.FIELD("k", DataTypes.INT()),
        DataTypes.FIELD("i", DataTypes.INT()),
        DataTypes.FIELD("d", DataTypes.DOUBLE()),
        DataTypes.FIELD("s", DataTypes.STRING()),
    ]
)


def recorded() -> list[tuple[str, list[Change]]]:
    found = []
    for part in RECORDED.read_text("utf-8").split("##SQL ")[1:]:
        statement, *lines = part.strip("\n").split("\n")
        changes = [(kind, ast.literal_eval(row)) for kind, _, row in (line.partition(" ") for line in lines)]
        found.append((statement, changes))
    return found


@pytest.mark.parametrize("epoch_records", [3])
def test_changelogs_are_those_of_flink(epoch_records: int) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records, epoch_records == 3))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    session.create_temporary_view("T", session.from_elements(ROWS, TYPE))
    wrong = []
    for statement, expected in recorded():
        with session.execute_sql(statement).collect() as rows:
            given = [(KINDS[row.get_row_kind().value], tuple(row)) for row in rows]
        if given != expected:
            wrong.append(f"{statement}\nexpected:\n{expected}\ngiven:\n{given}")
    assert not wrong, "\n\n".join(wrong)
