"""The cases in plain PySpark: native aggregation where a case allows it, else transformWithState.

Its Row interface: transformWithStateInPandas makes a data frame per key and batch, and was slower when both were tried.

python spark.py CASE INPUT OUTPUT      (BENCH_CONFIGURATION, BENCH_SETTINGS: JSON; BENCH_CHECKPOINT: a directory)
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle


class RunningCount(StatefulProcessor):
    """One state call to read and one to write per key and batch, whatever the number of its records."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.count = handle.getValueState("count", "n BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timer_values: Any) -> Iterator[Row]:
        held = self.count.get()
        count = held[0] if held else 0
        for row in rows:
            count += 1
            yield self.result(key[0], count, row)
        self.count.update((count,))

    def result(self, key: int, count: int, row: Row) -> Row:
        return Row(value=f"{key},{count}")

    def close(self) -> None:
        pass


class MarkedCount(RunningCount):
    def result(self, key: int, count: int, row: Row) -> Row:
        return Row(value=f"{key},{count},{row['one']}")


class CountAndPass(RunningCount):
    def result(self, key: int, count: int, row: Row) -> Row:
        return Row(k=key, ts=row["ts"], amount=row["amount"])


class RunningTotal(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.totals = handle.getValueState("totals", "n BIGINT, total BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timer_values: Any) -> Iterator[Row]:
        held = self.totals.get()
        count, total = (held[0], held[1]) if held else (0, 0)
        for row in rows:
            count, total = count + 1, total + row["total"]
            yield Row(value=f"{key[0]},{count},{total}")
        self.totals.update((count, total))

    def close(self) -> None:
        pass


def change(line: str) -> str:
    record = json.loads(line)
    record["price"] *= 2
    return json.dumps(record, separators=(",", ":"))


def change_all(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        yield pd.DataFrame({"value": [change(line) for line in frame["value"]]})


def counted(lines: DataFrame, processor: RunningCount) -> DataFrame:
    fields = f.split("value", ",")
    records = lines.select(fields[0].cast("bigint").alias("k"), fields[1].cast("bigint").alias("one"))
    return records.groupBy("k").transformWithState(processor, "value STRING", "Append", "None")


def events(lines: DataFrame, numbers: dict[str, Any]) -> DataFrame:
    fields = f.split("value", ",")
    return lines.select(
        fields[0].cast("bigint").alias("k"),
        f.timestamp_millis(fields[1].cast("bigint")).alias("ts"),
        fields[2].cast("bigint").alias("amount"),
    ).withWatermark("ts", f"{numbers['disorder_ms']} milliseconds")


def windowed(lines: DataFrame, numbers: dict[str, Any], window: Any) -> DataFrame:
    groups = events(lines, numbers).groupBy("k", window).agg(f.count("*").alias("n"), f.sum("amount").alias("total"))
    return groups.select(f.concat_ws(",", "k", "n", "total").alias("value"))


def three_hops(lines: DataFrame, numbers: dict[str, Any]) -> DataFrame:
    passed = (
        events(lines, numbers)
        .groupBy("k")
        .transformWithState(
            CountAndPass(),
            "k BIGINT, ts TIMESTAMP, amount BIGINT",
            "Append",
            "EventTime",
            eventTimeColumnName="ts",
        )
    )
    group = (f.col("k") % numbers["hop_groups"]).alias("g")
    sums = passed.groupBy(group, f.window("ts", "1 second")).agg(f.sum("amount").alias("total"))
    regions = sums.select((f.col("g") % numbers["hop_regions"]).alias("region"), "total")
    return regions.groupBy("region").transformWithState(RunningTotal(), "value STRING", "Append", "None")


def results_of(case: str, lines: DataFrame, numbers: dict[str, Any]) -> DataFrame:
    if case == "udf_map":
        return lines.mapInPandas(change_all, "value STRING")
    if case in ("keyed_count", "keyed_count_skew"):
        return counted(lines, RunningCount())
    if case == "latency":
        return counted(lines, MarkedCount())
    if case == "tumble":
        return windowed(lines, numbers, f.window("ts", "1 second"))
    if case == "slide":
        return windowed(lines, numbers, f.window("ts", "4 seconds", "1 second"))
    if case == "session":
        return windowed(lines, numbers, f.session_window("ts", f"{numbers['gap_ms']} milliseconds"))
    if case == "three_hops":
        return three_hops(lines, numbers)
    sys.exit(f"no program for {case}")


def main(case: str, source_path: str, sink_path: str) -> None:
    numbers = json.loads(os.environ["BENCH_SETTINGS"])
    builder = SparkSession.builder.appName(case)
    for key, value in json.loads(os.environ["BENCH_CONFIGURATION"]).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    reader = session.readStream.format("text")
    if case != "latency":
        reader = reader.option("maxFilesPerTrigger", numbers["files_per_trigger"])
    results = results_of(case, reader.load(source_path), numbers)
    writer = results.writeStream.format("text").option("checkpointLocation", os.environ["BENCH_CHECKPOINT"])
    if case != "latency":
        writer = writer.trigger(availableNow=True)
    writer.start(sink_path).awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
