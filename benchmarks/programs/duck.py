"""The cases as one DuckDB query each over the whole file: the limit for whoever need not be incremental.

python duck.py CASE INPUT OUTPUT      (BENCH_SETTINGS: numbers as JSON)
"""

from __future__ import annotations

import json
import os
import sys

import duckdb

EVENTS = "read_csv('{source}', header = false, columns = {{'k': 'BIGINT', 't': 'BIGINT', 'amount': 'BIGINT'}})"
RECORDS = "read_csv('{source}', header = false, columns = {{'k': 'BIGINT', 'one': 'BIGINT'}})"
JSON = (
    "read_json('{source}', format = 'newline_delimited',"
    " columns = {{'id': 'BIGINT', 'user': 'BIGINT', 'price': 'BIGINT', 'note': 'VARCHAR'}})"
)

CASES = {
    "udf_map": f"COPY (SELECT id, user, price * 2 AS price, note FROM {JSON}) TO '{{sink}}' (FORMAT json)",
    "keyed_count": f"COPY (SELECT k, row_number() OVER (PARTITION BY k) FROM {RECORDS}) TO '{{sink}}' (HEADER false)",
    "tumble": f"COPY (SELECT k, count(*), sum(amount) FROM {EVENTS} GROUP BY k, t // 1000)"
    " TO '{sink}' (HEADER false)",
}


def main(case: str, source_path: str, sink_path: str) -> None:
    threads = json.loads(os.environ["BENCH_SETTINGS"])["parallelism"]
    connection = duckdb.connect(config={"threads": threads})
    connection.execute(CASES[case].format(source=source_path, sink=f"{sink_path}/part-0"))


if __name__ == "__main__":
    main(*sys.argv[1:])
