"""The cases that can be said in Flink SQL, sent through PyFlink: the work is done by Flink's JVM engine.

python flink_sql.py CASE INPUT OUTPUT
"""

import json
import os
import sys

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

EVENTS = (
    "k BIGINT, t BIGINT, amount BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 3),"
    " WATERMARK FOR ts AS ts - INTERVAL '{disorder}' SECOND"
)
RESULTS = "k BIGINT, n BIGINT, total BIGINT"
WINDOW = "SELECT k, COUNT(*), SUM(amount) FROM TABLE({window}) GROUP BY k, window_start, window_end"

CASES = {
    "udf_map": (
        "id BIGINT, `user` BIGINT, price BIGINT, note STRING",
        "id BIGINT, `user` BIGINT, price BIGINT, note STRING",
        "json",
        "SELECT id, `user`, price * 2, note FROM records",
    ),
    "keyed_count": (
        "k BIGINT, mark BIGINT, pt AS PROCTIME()",
        "k BIGINT, n BIGINT",
        "csv",
        "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        " FROM records",
    ),
    "tumble": (
        EVENTS,
        RESULTS,
        "csv",
        WINDOW.format(window="TUMBLE(TABLE records, DESCRIPTOR(ts), INTERVAL '1' SECOND)"),
    ),
    "slide": (
        EVENTS,
        RESULTS,
        "csv",
        WINDOW.format(window="HOP(TABLE records, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '4' SECOND)"),
    ),
    "session": (
        EVENTS,
        RESULTS,
        "csv",
        WINDOW.format(window="SESSION(TABLE records PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{gap}' SECOND)"),
    ),
}
CASES["cep"] = (
    EVENTS,
    RESULTS,
    "csv",
    "SELECT k, first_amount, second_amount FROM records MATCH_RECOGNIZE ("
    " PARTITION BY k ORDER BY ts MEASURES A.amount AS first_amount, B.amount AS second_amount"
    " ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) WITHIN INTERVAL '{within}' SECOND"
    " DEFINE A AS A.amount < {small}, B AS B.amount > {large})",
)
CASES["keyed_count_skew"] = CASES["keyed_count"]
RUNNING = "OVER (PARTITION BY {key} ORDER BY {time} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
CASES["three_hops"] = (
    f"{EVENTS}, pt AS PROCTIME()",
    RESULTS,
    "csv",
    # The condition on n keeps Flink from leaving the first hop out.
    "WITH counted AS (SELECT MOD(k, {groups}) AS g, ts, amount, COUNT(*) "
    + RUNNING.format(key="k", time="pt")
    + " AS n FROM records),"
    " passed AS (SELECT g, ts, amount FROM counted WHERE n > 0),"
    " sums AS (SELECT MOD(g, {regions}) AS region, SUM(amount) AS total, window_time AS wt"
    " FROM TABLE(TUMBLE(TABLE passed, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
    " GROUP BY g, window_start, window_end, window_time)"
    " SELECT region, COUNT(*) "
    + RUNNING.format(key="region", time="wt")
    + ", SUM(total) "
    + RUNNING.format(key="region", time="wt")
    + " FROM sums",
)


def main(case, source_path, sink_path):
    numbers = json.loads(os.environ["BENCH_SETTINGS"])
    configuration = Configuration()
    for key, value in json.loads(os.environ["BENCH_CONFIGURATION"]).items():
        configuration.set_string(key, value)
    configuration.set_string("parallelism.default", str(numbers["parallelism"]))
    settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    tables = TableEnvironment.create(settings)
    seconds = {"disorder": numbers["disorder_ms"] // 1000, "gap": numbers["gap_ms"] // 1000}
    seconds |= {
        "within": numbers["cep_within_ms"] // 1000,
        "small": numbers["cep_small"],
        "large": numbers["cep_large"],
    }
    keys = {"groups": numbers["hop_groups"], "regions": numbers["hop_regions"]}
    records, results, file_format, query = CASES[case]
    tables.execute_sql(
        f"CREATE TABLE records ({records.format(**seconds)})"
        f" WITH ('connector' = 'filesystem', 'path' = '{source_path}', 'format' = '{file_format}')"
    )
    tables.execute_sql(
        f"CREATE TABLE results ({results}) WITH ('connector' = 'filesystem', 'path' = '{sink_path}',"
        f" 'format' = '{file_format}', 'sink.rolling-policy.rollover-interval' = '{numbers['commit_ms']} ms',"
        f" 'sink.rolling-policy.check-interval' = '{numbers['commit_ms'] // 2} ms')"
    )
    tables.execute_sql(f"INSERT INTO results {query.format(**seconds, **keys)}").wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
