"""The cases in plain PySpark: native aggregation where a case allows it, else transformWithStateInPandas.

python spark.py CASE INPUT OUTPUT      (BENCH_CONFIGURATION, BENCH_SETTINGS: JSON; BENCH_CHECKPOINT: a directory)
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle


class RunningCount(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.count = handle.getValueState("count", "n BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timer_values: Any) -> Iterator[pd.DataFrame]:
        count = self.count.get()[0] if self.count.exists() else 0
        texts = []
        for frame in rows:
            for mark in frame["one"]:
                count += 1
                texts.append(f"{key[0]},{count}{self.ending(mark)}")
        self.count.update((count,))
        yield pd.DataFrame({"value": texts})

    def ending(self, mark: int) -> str:
        return ""

    def close(self) -> None:
        pass


class MarkedCount(RunningCount):
    def ending(self, mark: int) -> str:
        return f",{mark}"


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
    return records.groupBy("k").transformWithStateInPandas(processor, "value STRING", "Append", "None")


def windowed(lines: DataFrame, numbers: dict[str, Any], window: Any) -> DataFrame:
    fields = f.split("value", ",")
    events = lines.select(
        fields[0].cast("bigint").alias("k"),
        f.timestamp_millis(fields[1].cast("bigint")).alias("ts"),
        fields[2].cast("bigint").alias("amount"),
    ).withWatermark("ts", f"{numbers['disorder_ms']} milliseconds")
    groups = events.groupBy("k", window).agg(f.count("*").alias("n"), f.sum("amount").alias("total"))
    return groups.select(f.concat_ws(",", "k", "n", "total").alias("value"))


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
