"""SESSION as a table function, and what may follow it: the rows that Flink 2.3 gave, and which rows are late."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import NotSupportedError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment

Query = Callable[[str], list[tuple[Any, ...]]]
ROWS = ["1,a,10,01", "2,b,20,02", "3,a,30,04", "4,a,5,11", "5,b,,14", "6,c,7,25"]
SESSIONS = "TABLE(SESSION(TABLE B PARTITION BY item, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
NUMBERED = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY {order} DESC)"
SECONDS = "EXTRACT(SECOND FROM window_start), EXTRACT(SECOND FROM window_end)"
RECORDED = [
    (f"SELECT id, item, {SECONDS} FROM {SESSIONS}",
     [(2, "b", 2, 7), (1, "a", 1, 9), (3, "a", 1, 9), (4, "a", 11, 16), (5, "b", 14, 19), (6, "c", 25, 30)]),
    (f"SELECT id, item, {SECONDS} FROM TABLE(SESSION(TABLE B, DESCRIPTOR(ts), INTERVAL '5' SECOND))",
     [(1, "a", 1, 9), (2, "b", 1, 9), (3, "a", 1, 9), (4, "a", 11, 19), (5, "b", 11, 19), (6, "c", 25, 30)]),
    (f"SELECT id, price FROM (SELECT *, {NUMBERED.format(order='price')} AS r FROM {SESSIONS}) WHERE r <= 1",
     [(2, "20"), (3, "30"), (4, "5"), (5, ""), (6, "7")]),
    (f"SELECT id, price FROM (SELECT *, {NUMBERED.format(order='ts')} AS r FROM {SESSIONS}) WHERE r <= 1",
     [(2, "20"), (3, "30"), (4, "5"), (5, ""), (6, "7")]),
    (f"SELECT L.id, R.id FROM (SELECT * FROM {SESSIONS}) L JOIN (SELECT * FROM {SESSIONS}) R"
     " ON L.item = R.item AND L.window_start = R.window_start AND L.window_end = R.window_end",
     [(2, 2), (1, 1), (1, 3), (3, 1), (3, 3), (4, 4), (5, 5), (6, 6)]),
    ("SELECT id FROM TABLE(TUMBLE(TABLE B, DESCRIPTOR(p), INTERVAL '10' SECOND)) WHERE window_end > window_start",
     [(1,), (2,), (3,), (4,), (5,), (6,)]),
]  # fmt: skip


def over(tmp_path: Path, lines: list[str], epoch_records: int) -> Query:
    """Runs queries over a table of these rows, whose last column is a second of one minute."""
    file = tmp_path / "bids.csv"
    file.write_text("".join(f"{line[:-2]}2024-01-01 00:00:{line[-2:]}\n" for line in lines))
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records, True))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    session.execute_sql(f"""
        CREATE TABLE B (id INT, item STRING, price STRING, ts TIMESTAMP(3), p AS PROCTIME(),
            WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
        WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'csv')
    """)

    def run(sql: str) -> list[tuple[Any, ...]]:
        with session.execute_sql(sql).collect() as rows:
            return [tuple(row) for row in rows]

    return run


@pytest.mark.parametrize("epoch_records", [1, 100])
@pytest.mark.parametrize(("sql", "expected"), RECORDED)
def test_rows_are_those_of_flink(tmp_path: Path, sql: str, expected: list[tuple[Any, ...]], epoch_records: int) -> None:
    assert over(tmp_path, ROWS, epoch_records)(sql) == expected


@pytest.mark.parametrize("epoch_records", [1, 100])
def test_a_late_row_counts_only_if_it_touches_an_open_session(tmp_path: Path, epoch_records: int) -> None:
    # After the third row the watermark is at second 33: rows until 28 are late by themselves.
    lines = ["1,a,0,01", "2,a,0,31", "3,b,0,34", "4,a,0,28", "5,a,0,02", "6,b,0,20", "7,a,0,24"]
    found = over(tmp_path, lines, epoch_records)(f"SELECT id, item, {SECONDS} FROM {SESSIONS}")
    assert found == [(1, "a", 1, 6), (2, "a", 24, 36), (4, "a", 24, 36), (7, "a", 24, 36), (3, "b", 34, 39)]


def test_windows_on_processing_time_are_not_ranked(tmp_path: Path) -> None:
    sql = f"SELECT id FROM (SELECT *, {NUMBERED.format(order='id')} AS r FROM {{}}) WHERE r <= 1"
    windows = "TABLE(TUMBLE(TABLE B, DESCRIPTOR(p), INTERVAL '10' SECOND))"
    with pytest.raises(NotSupportedError, match="Top-N"):
        over(tmp_path, ROWS, 1)(sql.format(windows))


def test_a_condition_on_sessions_does_not_stand_before_their_groups(tmp_path: Path) -> None:
    grouped = f"SELECT item, COUNT(*) FROM {SESSIONS} WHERE window_end > ts GROUP BY item, window_start, window_end"
    with pytest.raises(NotSupportedError, match="HAVING"):
        over(tmp_path, ROWS, 1)(grouped)
