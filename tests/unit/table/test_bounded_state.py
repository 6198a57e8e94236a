"""Queries over rows whose time moves on keep as much after many rows as after few: what Flink forgets is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment

FEW, MANY, FILE = 1_600, 6_400, 400  # a file is read in one epoch
WINDOWED = "TABLE({}(TABLE bids, DESCRIPTOR(ts), {}))"
TUMBLE = WINDOWED.format("TUMBLE", "INTERVAL '5' SECOND")
MATCH = """SELECT * FROM bids MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, C.id AS c
    ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) WITHIN INTERVAL '5' SECOND
    DEFINE A AS A.v = 1, B AS B.v > 1, C AS C.v = -1)"""
QUERIES = {
    "tumble": f"SELECT k, SUM(v) FROM {TUMBLE} GROUP BY window_start, window_end, k",
    "hop": "SELECT k, SUM(v) FROM {} GROUP BY window_start, window_end, k".format(
        WINDOWED.format("HOP", "INTERVAL '2' SECOND, INTERVAL '6' SECOND")
    ),
    "cumulate": "SELECT k, SUM(v) FROM {} GROUP BY window_start, window_end, k".format(
        WINDOWED.format("CUMULATE", "INTERVAL '2' SECOND, INTERVAL '6' SECOND")
    ),
    "session": """SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE bids PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND))
        GROUP BY window_start, window_end, k""",
    "window rank": f"""SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v)
        AS n FROM {TUMBLE}) WHERE n <= 3""",
    "window join": f"""SELECT a.id FROM {TUMBLE} a JOIN {TUMBLE} b
        ON a.id = b.id AND a.window_start = b.window_start AND a.window_end = b.window_end""",
    "interval join": """SELECT a.id FROM bids a JOIN bids b ON a.k = b.k
        AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts""",
    "outer interval join": """SELECT a.id FROM bids a LEFT JOIN bids b ON a.k = b.k AND b.v = -1
        AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts""",
    "range": """SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING
        AND CURRENT ROW) FROM bids""",
    "range of keys that go": """SELECT id, SUM(v) OVER (PARTITION BY id ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND
        PRECEDING AND CURRENT ROW) FROM bids""",
    "rows": "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM bids",
    "sort": "SELECT id FROM bids ORDER BY ts",
    "versions": "SELECT a.id FROM bids a JOIN latest FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k",
    "top n": "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, id) AS n FROM bids) WHERE n <= 3",
    "latest": """SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bids)
        WHERE n = 1""",
    "pattern": MATCH,
}


def kept_bytes(directory: Path, query: str, rows: int) -> int:
    """How large the state is in a savepoint that is taken when nearly all rows have been read."""
    directory.mkdir()
    moments = [f"2024-01-01 {n // 36000:02d}:{n // 600 % 60:02d}:{n % 600 / 10:06.3f}" for n in range(rows)]
    lines = [f"{n},k{n % 7},{n % 11},{moment}\n" for n, moment in enumerate(moments)]
    for part in range(0, rows, FILE):
        (directory / f"{part:06}.csv").write_text("".join(lines[part : part + FILE]))
    executor = LocalExecutor(10, stop_after=rows // FILE - 1, savepoint_directory=f"{directory}-saved")
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    session.execute_sql(
        "CREATE TABLE bids (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)"
        f" WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{directory}')"
    )
    session.execute_sql(
        "CREATE VIEW latest AS SELECT k, v, ts FROM"
        " (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bids) WHERE n = 1"
    )
    session.execute_sql(query).wait()
    assert executor.savepoint_path is not None
    saved = Path(executor.savepoint_path.removeprefix("file://"))
    return sum(path.stat().st_size for path in saved.rglob("*") if path.is_file() and path.name != "_metadata")


@pytest.mark.parametrize("name", QUERIES)
def test_state_does_not_grow(name: str, tmp_path: Path) -> None:
    few, many = (kept_bytes(tmp_path / str(rows), QUERIES[name], rows) for rows in (FEW, MANY))
    assert many < 1.3 * few + 4_000, (few, many)


def test_a_join_without_bounds_grows(tmp_path: Path) -> None:
    """What the measure would show."""
    query = "SELECT a.id FROM bids a JOIN bids b ON a.id = b.id"
    few, many = (kept_bytes(tmp_path / str(rows), query, rows) for rows in (FEW, MANY))
    assert many > 2 * few + 4_000
