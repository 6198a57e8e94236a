"""A worker that dies in the middle of matches: the job goes on, and each match is found once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.cep import CEP, Pattern
from penstock.common import Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

pytestmark = pytest.mark.spark

EVENT = Types.TUPLE([Types.LONG(), Types.STRING(), Types.LONG()])  # key, letter, time
COUNT = 6_000


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_killed_worker_changes_nothing(
    spark_env: Callable[..., StreamExecutionEnvironment], backend: str, tmp_path: Path
) -> None:
    marker = tmp_path / "killed"

    def second(event: Any) -> bool:
        if event[2] >= COUNT // 2 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return bool(event[1] == "b")

    options = {"state.backend.type": backend, "penstock.epoch.max-records": "700"}
    env = spark_env(2, options)
    times: Any = WatermarkStrategy.for_monotonous_timestamps()
    events = (
        env.from_source(NumberSequenceSource(0, COUNT - 1), WatermarkStrategy.no_watermarks(), "numbers")
        .set_parallelism(1)
        .map(lambda n: (n % 7, "abc"[n // 7 % 3], n), EVENT)
        .set_parallelism(1)
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(ThirdField()))
        .set_parallelism(1)
    )
    pattern = Pattern.begin("a").where(lambda event: event[1] == "a").next("b").where(second).within(Time.seconds(1))
    found = CEP.pattern(events.key_by(lambda event: event[0], Types.LONG()), pattern).select(
        lambda match: (match["a"][0][2], match["b"][0][2])
    )
    results = sorted(found.execute_and_collect())
    assert marker.exists()
    starts = [n for n in range(COUNT) if n // 7 % 3 == 0 and n + 7 < COUNT]
    assert results == [(n, n + 7) for n in starts]
