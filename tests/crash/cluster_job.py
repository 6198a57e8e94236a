"""The job of page_view_job.py with files as its only sinks, which may lie in a store.

Arguments: where the results go, and the number of records.
"""

from __future__ import annotations

import sys

from page_view_job import reports_and_running, sink

from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import RollingPolicy


def main(results: str, records: int) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    reports, running = reports_and_running(env, records)
    reports.sink_to(sink(f"{results}/reports", RollingPolicy.default_rolling_policy(part_size=2_000)))
    running.sink_to(sink(f"{results}/running", RollingPolicy.on_checkpoint_rolling_policy()))
    env.execute("page views on a cluster")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
