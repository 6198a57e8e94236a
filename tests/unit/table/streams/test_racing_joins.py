"""Joins of two inputs in which one row is late or not, by which input Flink happens to read first: it gives both.

Each query ran five times in Flink 2.3 (2026-11-18): row 8, at 3 s after rows at 14 s, was in some results and not in
others. Here the rows decide (docs/adr/0030-watermarks-of-tables-by-rows.md), so that the result is one of Flink's.
"""

from __future__ import annotations

from collections import Counter

import pytest
from tests.unit.table.streams.test_recorded_streams import HERE, recorded

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment

_AS_OF = "FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k"
_NEAR = "ON b.k = r.k AND b.ts BETWEEN r.rt AND r.rt + INTERVAL '5' SECOND"
_VERSIONS = [
    (1, 1),
    (2, 2),
    (3, 1),
    (4, 3),
    (5, 5),
    (6, 3),
    (9, 5),
    (10, 3),
    (11, 5),
    (12, 4),
    (13, 4),
    (14, 5),
    (15, 5),
]
_PAIRS = [(1, 1), (2, 2), (3, 1), (4, 3), (5, 5), (6, 3), (12, 4)]
_ALONE = [(number, None) for number in (7, 9, 10, 11, 13, 14, 15)]

# What all runs gave, and what some gave besides.
RACES = {
    f"SELECT b.id, r.rate FROM bids b JOIN keyed_rates {_AS_OF}": (_VERSIONS, ([], [(8, 1)])),
    f"SELECT b.id, r.rate FROM bids b LEFT JOIN keyed_rates {_AS_OF}": (
        [*_VERSIONS, (7, None)],
        ([(8, None)], [(8, 1)]),
    ),
    f"SELECT b.id, r.rate FROM bids b JOIN versions {_AS_OF}": (_VERSIONS, ([], [(8, 1)])),
    f"SELECT b.id, r.rate FROM bids b JOIN rates r {_NEAR}": (_PAIRS, ([], [(8, 1)])),
    f"SELECT b.id, r.rate FROM bids b LEFT JOIN rates r {_NEAR}": ([*_PAIRS, *_ALONE], ([(8, None)], [(8, 1)])),
    # Five times the same; FULL and RIGHT are the other halves of the two above, in which row 8 was seen both ways.
    f"SELECT b.id, r.rate FROM bids b RIGHT JOIN rates r {_NEAR}": ([*_PAIRS, (None, 7)], ([], [(8, 1)])),
    f"SELECT b.id, r.rate FROM bids b FULL JOIN rates r {_NEAR}": (
        [*_PAIRS, *_ALONE, (None, 7)],
        ([(8, None)], [(8, 1)]),
    ),
}


@pytest.mark.parametrize("query", RACES)
def test_result_is_one_of_those_that_flink_gives(query: str) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1_000, False))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env)
    for statement, _ in recorded():
        if statement.startswith("CREATE"):
            session.execute_sql(statement.replace("{dir}", str(HERE)))
    with session.execute_sql(query).collect() as rows:
        found = Counter(tuple(row) for row in rows)
    always, sometimes = RACES[query]
    assert found in [Counter([*always, *more]) for more in sometimes]
