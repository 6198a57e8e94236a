"""A program that is killed again and again: state and timers by user, windows by page, sums by site, two file
sinks, and two sinks of Flink's classic kinds (those of examples/).

Arguments: the directory of the results, the number of records, and optionally a directory for a savepoint that is taken
while the job runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))

from page_views import LONG_MS, PERIOD_MS, SITES, WINDOW_MS, View, period_end, view
from transactional_files import TransactionalFiles
from write_ahead_sqlite import SqliteLog

from penstock.common import Encoder, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, KeyedProcessFunction, OutputTag, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, RollingPolicy
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import TumblingEventTimeWindows

RUNNING = OutputTag("running", Types.STRING())
REPORT = OutputTag("report", Types.STRING())


class TimeOfView(TimestampAssigner):
    def extract_timestamp(self, value: View, record_timestamp: int) -> int:
        return value.time


class PerUser(KeyedProcessFunction):
    """Passes views on; reports a user's views when their period ends."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        self.periods = runtime_context.get_map_state(MapStateDescriptor("periods", Types.LONG(), Types.LONG()))

    def process_element(self, value: View, ctx: Any) -> Any:
        total = (self.total.value() or 0) + 1
        self.total.update(total)
        end = period_end(value.time, PERIOD_MS)
        self.periods.put(end, (self.periods.get(end) or 0) + 1)
        # A moment before the end: a timer at the end itself would fire behind a watermark that has passed it already.
        ctx.timer_service().register_event_time_timer(end - 1)
        yield RUNNING, f"user {value.user} view {total}"
        yield value.page, 1

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        end = timestamp + 1
        yield REPORT, f"user {ctx.get_current_key()} until {end}: {self.periods.get(end)}"
        self.periods.remove(end)


class PerSite(KeyedProcessFunction):
    """Adds up the windows of a site's pages, and reports the sum when the long period ends."""

    def open(self, runtime_context: Any) -> None:
        self.sums = runtime_context.get_map_state(MapStateDescriptor("sums", Types.LONG(), Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: Any) -> None:
        end = period_end(ctx.timestamp(), LONG_MS)
        self.sums.put(end, (self.sums.get(end) or 0) + value[1])
        ctx.timer_service().register_event_time_timer(end - 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        end = timestamp + 1
        yield f"site {ctx.get_current_key()} until {end}: {self.sums.get(end)}"
        self.sums.remove(end)


def sink(directory: str, policy: RollingPolicy) -> FileSink:
    return FileSink.for_row_format(directory, Encoder.simple_string_encoder()).with_rolling_policy(policy).build()


def reports_and_running(env: StreamExecutionEnvironment, records: int) -> tuple[DataStream, DataStream]:
    """What timers and windows report, and a running count of views by user: lines of text."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(TimeOfView())
    views = (
        env.from_source(NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers")
        .map(lambda number: view(number, records))
        .assign_timestamps_and_watermarks(strategy)
    )
    by_user = views.key_by(lambda v: v.user).process(PerUser()).uid("per-user")
    sites = (
        by_user.key_by(lambda r: r[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .uid("windows")
        .key_by(lambda r: r[0] % SITES)
        .process(PerSite(), Types.STRING())
        .uid("per-site")
    )
    return sites.union(by_user.get_side_output(REPORT)), by_user.get_side_output(RUNNING)


def main(results: str, records: int, savepoints: str | None = None) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    reports, running = reports_and_running(env, records)
    reports.sink_to(sink(f"{results}/reports", RollingPolicy.default_rolling_policy(part_size=2_000)))
    running.sink_to(sink(f"{results}/running", RollingPolicy.on_checkpoint_rolling_policy()))
    running.add_sink(TransactionalFiles(f"{results}/two-phase")).uid("two-phase")
    running.sink_to(SqliteLog(f"{results}/write-ahead.sqlite")).uid("write-ahead")
    if savepoints is None:
        env.execute("page views")
        return
    job = env.execute_async("page views")
    job.trigger_savepoint(savepoints).result()
    job.get_job_execution_result().result()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
