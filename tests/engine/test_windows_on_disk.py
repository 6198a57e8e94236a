"""Windows give the same results with their tables in memory and on disk, in columns and record by record."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.blueprint import DiskStateSettings

RECORD = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])  # key, number, time
DISORDER = 300
WINDOWS = [TumblingEventTimeWindows(500, 0), SlidingEventTimeWindows(800, 200, 0), EventTimeSessionWindows(90)]


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[2]  # type: ignore[no-any-return]


def results(assigner: Any, aggregation: str, typed: bool, **options: Any) -> list[Any]:
    source = random.Random(3)
    records = [(source.randrange(20), source.randrange(100), n * 7 - source.randrange(DISORDER)) for n in range(300)]
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records=70, **options))
    env.set_parallelism(1)  # with more, the order of arrival is not the same in every run
    strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    stream = env.from_collection(records, RECORD if typed else None).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(ThirdField())
    )
    windows: Any = stream.key_by(lambda record: record[0], Types.LONG() if typed else None).window(assigner)
    return sorted(getattr(windows, aggregation)(1).execute_and_collect())


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("aggregation", ["sum", "max", "min_by"])
@pytest.mark.parametrize("assigner", WINDOWS, ids=lambda assigner: type(assigner).__name__)
def test_windows_on_disk_give_the_same_results(assigner: Any, aggregation: str, typed: bool, tmp_path: Path) -> None:
    expected = results(assigner, aggregation, typed=False)
    disk = DiskStateSettings((str(tmp_path),), 1 << 20)
    assert results(assigner, aggregation, typed, disk_state=disk) == expected
    assert results(assigner, aggregation, typed, disk_state=disk, forget=True) == expected
    assert results(assigner, aggregation, typed, forget=True) == expected
