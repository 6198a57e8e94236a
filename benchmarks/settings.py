"""Every setting of the benchmark, for all contestants, in one place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data"
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = ROOT / "benchmarks" / ".packages"  # DuckDB, which neither environment needs
FLINK_REQUIREMENT = "apache-flink==2.3.0"
DUCKDB_REQUIREMENT = "duckdb==2.0.0"

SEED = 20261115
ROUNDS = 2  # the second one in the opposite order, for the contestants that a target compares
MINUTES = 14.5  # of the whole run; what would not fit is left out and said to be

# -- the same for everybody ---------------------------------------------------------------------------------------
PARALLELISM = 2
HEAP = "2g"
COMMIT_MS = 1000  # Flink's checkpoint interval; Penstock's epochs under backlog; Spark: SPARK_FILES_PER_TRIGGER
LATENCY_COMMIT_MS = 200  # the same in the latency case, where Penstock and Spark commit as fast as they can

# -- limits -------------------------------------------------------------------------------------------------------
START_SECONDS = 60  # until the first sign of progress
WARM_UP_SECONDS = 2  # after it: not in a partial rate
RUN_SECONDS = 4  # after that; whoever has not done NEARLY_DONE by then is cut off, and its rate is marked as partial
NEARLY_DONE = 0.3  # who has done this part of the work by then may go on ...
FINISH_SECONDS = 40  # ... until this long after the first sign

# -- how the job is configured ------------------------------------------------------------------------------------
FLINK = {
    "execution.checkpointing.interval": f"{COMMIT_MS} ms",
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "state.backend.type": "hashmap",
    "restart-strategy.type": "none",  # a failure is to be seen
    "metrics.fetcher.update-interval": "500",  # milliseconds: its REST server counts the records of partial runs
}
FLINK_ROCKSDB = {"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"}
FLINK_THREAD = {"python.execution-mode": "thread"}
PENSTOCK = {
    "penstock.epoch.target-ms": str(COMMIT_MS),
    "spark.driver.memory": HEAP,
    "spark.master": f"local[{PARALLELISM}]",
}
SPARK = {
    "spark.master": f"local[{PARALLELISM}]",
    "spark.driver.memory": HEAP,
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": str(PARALLELISM),
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state."
    "RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
# -- Nexmark ------------------------------------------------------------------------------------------------------
# Flink SQL refuses q6. What q12 gives depends on the clock, and q13 looks up in files, which Flink's connector cannot.
NEXMARK = tuple(f"q{number}" for number in range(23) if number not in (6, 12, 13))
NEXMARK_STATELESS = ("q0", "q1", "q2", "q14", "q21", "q22")
NEXMARK_PYTHON = ("udf", "udf_pandas", "no_udf")  # the same rows, through a function in Python and without it
NEXMARK_QUERIES = NEXMARK + NEXMARK_PYTHON
NEXMARK_SECONDS = 120  # a query that takes longer ends the run
NEXMARK_DIFFERENCES = {
    "q9": "differs: Flink plans its rank as append-only, and so rows stay in the result that are not the best any more"
}
TABLES = {  # as Nexmark's own set-up for Flink recommends
    "nexmark": {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "2 s",
        "table.exec.mini-batch.size": "50000",
        "table.optimizer.distinct-agg.split.enabled": "true",
    }
}
SPARK_FILES = 64  # Spark reads whole files only: the input is cut into this many ...
SPARK_SMALL_FILES = 400  # ... or this many, where a state call per key makes it slow
SPARK_SMALL_CASES = ("keyed_count", "keyed_count_skew", "three_hops")
SPARK_FILES_PER_TRIGGER = {"udf_map": 8, "tumble": 8, "slide": 8, "session": 8}  # 1 elsewhere

# -- cases --------------------------------------------------------------------------------------------------------
EVENTS_PER_SECOND = 100_000  # of event time in tumble, slide and three_hops, at SCALE=1
DISORDER_MS = 1000
SESSION_GAP_MS = 10_000
SESSION_MEAN_PAUSE_MS = 5_000
ZIPF = 1.1
JSON_LINE_BYTES = 100
CEP_SMALL, CEP_LARGE = 100, 900  # of amounts from 1 to 999
CEP_WITHIN_MS = 60_000
HOP_GROUPS = 1000  # the second key of three_hops: key modulo this
HOP_REGIONS = 100  # the third
LATENCY_RECORDS_PER_SECOND = {"latency": 1000, "latency_fast": 20_000}
LATENCY_KEYS = 1000
LATENCY_SECONDS = 30
LATENCY_WARM_UP_SECONDS = 5  # after the first result
DISCOVERY_MS = 10  # how often unbounded jobs look for new files
LATENCY_FILE_MS = 10  # the feeder hands over a file of new records this often
STATE_VALUE_BYTES = 100
STATE_UPDATES = (50_000, 500)
RECOVERY_RECORDS_PER_SECOND = 1000
KAFKA_RESULT_EVERY = {"kafka": 1, "kafka_few": 100}  # of so many counts of a key one is written
KAFKA_SECONDS = 60  # after which a contestant is cut off
KAFKA_FLINK_PART = 0.1  # of the records, for PyFlink
FLINK_KAFKA_CONNECTOR = "5.0.0-2.2"


@dataclass(frozen=True)
class Case:
    """What one case is made of. `records` and `keys` are for SCALE=1; the number of keys grows with the scale too.

    A target compares `repeated`: they run in both rounds. `optional` ones run at the end, if there is time.
    """

    records: int
    keys: int
    contestants: tuple[str, ...]
    repeated: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


CASES = {
    "keyed_count": Case(
        2_000_000,
        100_000,
        (
            "penstock",
            "penstock_builtin",
            "penstock_micro_batch",
            "penstock_sql",
            "pyflink_process",
            "pyflink_thread",
            "pyflink_thread_rocksdb",
            "flink_sql",
            "spark",
            "loop",
            "duckdb",
        ),
        repeated=(
            "penstock",
            "penstock_builtin",
            "flink_sql",
            "pyflink_process",
            "pyflink_thread",
            "loop",
        ),
        optional=("flink_sql_rocksdb",),
    ),
    "udf_map": Case(
        1_000_000,
        0,
        ("penstock", "pyflink_thread", "flink_sql", "spark", "loop", "duckdb"),
        repeated=("penstock", "pyflink_thread"),
        optional=("pyflink_process",),
    ),
    "three_hops": Case(
        1_000_000,
        10_000,
        ("penstock", "penstock_micro_batch", "pyflink_process", "pyflink_thread", "flink_sql", "spark"),
        repeated=("penstock", "pyflink_thread"),
    ),
    "tumble": Case(
        2_000_000,
        100_000,
        (
            "penstock",
            "penstock_builtin",
            "penstock_sql",
            "pyflink_thread",
            "flink_sql",
            "spark",
            "loop",
            "duckdb",
        ),
        repeated=("penstock", "penstock_builtin", "penstock_sql", "flink_sql"),
        optional=("flink_sql_rocksdb", "pyflink_process"),
    ),
    "slide": Case(
        2_000_000,
        100_000,
        ("penstock", "penstock_builtin", "penstock_sql", "pyflink_thread", "flink_sql"),
        repeated=("penstock", "penstock_builtin", "penstock_sql", "flink_sql"),
        optional=("spark", "pyflink_process"),
    ),
    "session": Case(
        2_500_000,  # so that the fastest commit more than once
        25_000,
        ("penstock", "penstock_builtin", "penstock_sql", "pyflink_thread", "flink_sql"),
        repeated=("penstock", "penstock_builtin", "penstock_sql", "flink_sql"),
        optional=("spark", "pyflink_process"),
    ),
    "cep": Case(
        2_500_000,  # so that the fastest commit more than once
        10_000,
        ("penstock", "penstock_micro_batch", "penstock_sql", "flink_sql"),
        repeated=("penstock", "penstock_sql", "flink_sql"),
    ),
    "nexmark": Case(
        2_000_000,
        0,
        ("flink_sql", "pyflink_process", "penstock_sql"),  # Flink first: its digests are what others are compared with
        repeated=("flink_sql", "pyflink_process", "penstock_sql"),
        optional=("pyflink_thread", "flink_sql_rocksdb"),
    ),
    "latency": Case(
        0, LATENCY_KEYS, ("penstock", "penstock_micro_batch", "pyflink_thread"), optional=("spark", "pyflink_process")
    ),
    "latency_fast": Case(0, LATENCY_KEYS, ("penstock",), optional=("penstock_micro_batch", "pyflink_thread")),
    "big_state": Case(
        500_000, 500_000, ("penstock", "penstock_micro_batch", "pyflink_thread"), optional=("pyflink_thread_rocksdb",)
    ),
    "recovery": Case(
        500_000, 500_000, ("penstock", "penstock_micro_batch", "pyflink_thread"), optional=("pyflink_thread_rocksdb",)
    ),
    "kafka": Case(
        3_000_000,
        10_000,
        ("loop", "penstock", "penstock_micro_batch", "pyflink_thread"),
        repeated=("loop", "penstock", "pyflink_thread"),
    ),
    # Few keys: all of them reach their next hundred at about the same time, and a rate needs many such times.
    "kafka_few": Case(3_000_000, 1_000, ("loop", "penstock"), optional=("penstock_micro_batch", "pyflink_thread")),
    "keyed_count_skew": Case(
        2_000_000,
        100_000,
        ("penstock", "flink_sql"),
        optional=("pyflink_thread", "pyflink_process", "spark"),
    ),
}
APART = ("nexmark",)  # cases with results of their own, which a whole run does not include
PROGRAMS = {"latency_fast": "latency"}  # of cases that share the program of another
# What one run takes on two quiet cores, for the plan; a run that was made already counts with its own time.
SECONDS = {
    "penstock": 19,
    "penstock_builtin": 19,
    "penstock_micro_batch": 26,
    "penstock_sql": 19,
    "pyflink_process": 15,
    "pyflink_thread": 13,
    "pyflink_thread_rocksdb": 13,
    "flink_sql": 16,
    "flink_sql_rocksdb": 22,
    "spark": 22,
    "loop": 5,
    "duckdb": 2,
}
LIVE_SECONDS = {
    "nexmark": 150,
    "latency": 47,
    "latency_fast": 47,
    "big_state": 75,
    "recovery": 95,
    "kafka": 60,
    "kafka_few": 60,
}  # of any contestant
FLINK_HOME_VARIABLE = "PENSTOCK_BENCH_FLINK"  # an environment that has apache-flink already, instead of .venv-flink


def flink_environment() -> Path:
    return Path(os.environ.get(FLINK_HOME_VARIABLE) or ROOT / ".venv-flink")
