"""Statements one after the other in one session, and what the real Flink 2.3 prints for each (flink_statements.txt)."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment

RECORDED = Path(__file__).with_name("flink_statements.txt")


def recorded() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for part in RECORDED.read_text("utf-8").split("##SQL ")[1:]:
        statement, _, printed = part.partition("\n")
        found.append((statement, printed))
    return found


def test_statements_print_what_flink_prints(capsys: pytest.CaptureFixture[str]) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1_000, False))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    wrong = []
    for statement, expected in recorded():
        try:
            session.execute_sql(statement).print()
            printed = capsys.readouterr().out
        except (ProgramError, NotSupportedError, JobExecutionError):
            printed = "##ERROR\n"
            capsys.readouterr()
        if printed != expected:
            wrong.append(f"{statement}\nexpected:\n{expected}\nprinted:\n{printed}")
    assert not wrong, "\n\n".join(wrong)
    assert len(recorded()) > 75
