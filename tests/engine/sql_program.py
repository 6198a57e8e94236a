"""A job of SQL with every kind of operator that keeps state, whose final tables do not depend on how it was run."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

from penstock.datastream import StreamExecutionEnvironment
from penstock.table import DataTypes, StreamTableEnvironment, TableResult
from penstock.table.udf import ScalarFunction, udf

WINDOWED = "TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
QUERIES = {
    "grouped": "SELECT k, COUNT(*), SUM(v), MAX(v), COUNT(DISTINCT v) FROM bids GROUP BY k",
    "windows": f"SELECT CAST(window_end AS STRING), k, SUM(v) FROM {WINDOWED} GROUP BY window_start, window_end, k",
    "sessions": """SELECT CAST(window_end AS STRING), k, COUNT(*) FROM TABLE(SESSION(TABLE bids PARTITION BY k,
        DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end, k""",
    "joined": """SELECT s.k, s.c, n.name FROM (SELECT k, COUNT(*) AS c FROM bids GROUP BY k) AS s
        LEFT JOIN (SELECT k, MAX(name) AS name FROM names GROUP BY k) AS n ON s.k = n.k""",
    "near": """SELECT b.id, n.name FROM bids AS b JOIN names AS n ON b.k = n.k
        AND n.ts BETWEEN b.ts - INTERVAL '3' SECOND AND b.ts + INTERVAL '3' SECOND""",
    "highest": """SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS n FROM bids)
        WHERE n <= 3""",
    "latest": """SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bids)
        WHERE n = 1""",
    "totals": "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM bids",
    "versions": """SELECT b.id, n.name FROM bids AS b
        LEFT JOIN names FOR SYSTEM_TIME AS OF b.ts AS n ON b.k = n.k""",
}
COLUMNS = {
    "grouped": "k STRING, c BIGINT, s BIGINT, m INT, d BIGINT",
    "windows": "e STRING, k STRING, s BIGINT",
    "sessions": "e STRING, k STRING, c BIGINT",
    "joined": "k STRING, c BIGINT, name STRING",
    "near": "id INT, name STRING",
    "highest": "k STRING, id INT, v INT",
    "latest": "k STRING, id INT",
    "totals": "id INT, s BIGINT",
    "versions": "id INT, name STRING",
}


FILES = 20


class DyingOnce(ScalarFunction):
    """Gives what it gets; at one value its process is killed, unless the mark is there already."""

    def __init__(self, at: int, mark: Path) -> None:
        self.at, self.mark = at, mark

    def eval(self, value: int) -> int:
        if value == self.at and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value


def write_inputs(directory: Path, rows: int) -> None:
    """Rows are out of order, but by less than the watermarks allow. A file is read in one epoch."""
    chance = random.Random(5)
    bids = []
    for number in range(rows):
        ms = (number + chance.randrange(20)) * 50 + number % 50
        bids.append(f"{number},k{chance.randrange(11)},{chance.randrange(1000)},{_moment(ms)}")
    names = [f"k{n % 13},name{n},{_moment(n * 700 + 7)}" for n in range(rows * 50 // 700)]
    for name, lines in (("bids", bids), ("names", names)):
        (directory / name).mkdir()
        size = max(1, len(lines) // FILES)
        for start in range(0, len(lines), size):
            (directory / name / f"{start:06}.csv").write_text("\n".join(lines[start : start + size]) + "\n")


def _moment(ms: int) -> str:
    seconds, millis = divmod(ms, 1000)
    return f"2024-01-01 {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{millis:03d}"


def start(
    env: StreamExecutionEnvironment,
    inputs: Path,
    outputs: Path,
    dying: DyingOnce | None = None,
    generated: tuple[int, int] | None = None,
) -> TableResult:
    """Bids are read from files, or are generated: so many, so many a second, so that a job can be stopped half-way."""
    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_system_function("same", udf(dying or DyingOnce(-1, outputs), result_type=DataTypes.INT()))
    source = f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{inputs}/%s')"
    declared = "id INT, k STRING, v INT, ts TIMESTAMP(3)"
    bids = source % "bids"
    if generated is not None:
        declared = (
            "id INT, k AS 'k' || CAST(MOD(id * 7 + id / 13, 11) AS STRING), v AS MOD(id * 7919, 1000),"
            " ts AS TIMESTAMPADD(SECOND, (id + MOD(id * 7, 20)) / 20, TIMESTAMP '2024-01-01 00:00:00.000')"
            " + MOD(id + MOD(id * 7, 20), 20) * INTERVAL '0.050' SECOND + MOD(id, 50) * INTERVAL '0.001' SECOND"
        )
        bids = (
            f"WITH ('connector' = 'datagen', 'rows-per-second' = '{generated[1]}', 'fields.id.kind' = 'sequence',"
            f" 'fields.id.start' = '0', 'fields.id.end' = '{generated[0] - 1}')"
        )
    t_env.execute_sql(f"CREATE TABLE raw_bids ({declared}, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) {bids}")
    t_env.execute_sql(
        "CREATE TABLE names (k STRING, name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,"
        f" PRIMARY KEY (k) NOT ENFORCED) {source % 'names'}"
    )
    t_env.execute_sql("CREATE VIEW bids AS SELECT same(id) AS id, k, v, ts FROM raw_bids")
    inserts = t_env.create_statement_set()
    for name, query in QUERIES.items():
        t_env.execute_sql(
            f"CREATE TABLE {name} ({COLUMNS[name]}) WITH ('connector' = 'filesystem', 'path' = '{outputs}/{name}',"
            " 'format' = 'debezium-json')"
        )
        inserts.add_insert_sql(f"INSERT INTO {name} {query}")
    return inserts.execute()


def final_tables(outputs: Path) -> dict[str, Counter[Any]]:
    """What the changes in the visible files of each sink add up to."""
    found = {}
    for name in QUERIES:
        table: Counter[Any] = Counter()
        for path in (outputs / name).glob("part-*"):
            for line in path.read_text().splitlines():
                change = json.loads(line)
                sign = -1 if change["op"] == "d" else 1
                table[tuple((change["before"] if sign < 0 else change["after"]).values())] += sign
        assert all(count >= 0 for count in table.values()), f"{name}: a row was taken back that was not there"
        found[name] = +table
    return found
