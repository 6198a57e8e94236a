"""SQL on Spark: tables are columns through exchanges, state and files, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.table import StreamTableEnvironment

pytestmark = pytest.mark.spark


def test_groups_of_a_file_go_to_the_program_and_to_files(spark_env: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lines = [f"{number % 5},{number},2020-01-01 00:00:{number % 60:02d}" for number in range(200)]
    (tmp_path / "in" / "a.csv").write_text("\n".join(lines) + "\n")
    t_env = StreamTableEnvironment.create(spark_env(2))
    t_env.execute_sql(
        f"""CREATE TABLE src (k INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
            WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "in"}', 'format' = 'csv')"""
    )
    final: dict[int, int] = {}
    with t_env.execute_sql("SELECT k, SUM(v) AS s FROM src GROUP BY k").collect() as found:
        for row in found:
            if row._is_retract_msg():
                assert final.pop(row[0]) == row[1]
            else:
                final[row[0]] = row[1]
    assert final == {key: sum(range(key, 200, 5)) for key in range(5)}
    t_env.execute_sql(
        f"""CREATE TABLE out_json (k INT, v BIGINT) PARTITIONED BY (k)
            WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "out"}', 'format' = 'json')"""
    )
    t_env.execute_sql("INSERT INTO out_json SELECT k, v FROM src WHERE k < 2").wait()
    written = [line for path in (tmp_path / "out").glob("k=*/part-*") for line in path.read_text().splitlines()]
    assert len(written) == len(set(written)) == 80
