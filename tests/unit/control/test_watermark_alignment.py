"""Who is too far ahead of its group waits."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.control.watermark_alignment import WatermarkAlignment
from penstock.datastream import ProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.engines.local.executor import LocalExecutor
from penstock.graph.job_request import JobRequest
from penstock.plan.translation import translate
from penstock.runtime.batch import MAX_TIMESTAMP
from penstock.runtime.blueprint import JobBlueprint, JobSettings


class Times(TimestampAssigner):
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) * self.factor


def aligned(group: str, factor: int = 1) -> WatermarkStrategy:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times(factor))
    return strategy.with_watermark_alignment(group, Duration.of_millis(10))


@pytest.fixture
def job() -> JobBlueprint:
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    env.set_parallelism(1)
    for name, group in (("a", "g"), ("b", "g"), ("c", "other")):
        env.from_source(NumberSequenceSource(1, 5), aligned(group), name, Types.LONG()).uid(name).print()
    request: JobRequest = env._request(None)
    return translate(request, JobSettings("0" * 32, "test"))


def reading(job: JobBlueprint, **watermarks: int) -> set[str]:
    uids = {operator.id: operator.uid for operator in job.operators}
    made_by = {edge.target: uids[edge.source] for edge in job.edges}
    alignment = WatermarkAlignment(job, lambda id_: [watermarks[made_by[id_]]] if made_by[id_] in watermarks else [])
    return {uid for uid in ("a", "b", "c") if alignment.may_read(uid)}


def test_a_source_waits_for_the_slowest_of_its_group(job: JobBlueprint) -> None:
    assert reading(job) == {"a", "b", "c"}
    assert reading(job, a=5, b=15, c=999) == {"a", "b", "c"}
    assert reading(job, a=5, b=16, c=999) == {"a", "c"}


def test_idle_and_finished_sources_hold_nobody_back(job: JobBlueprint) -> None:
    assert reading(job, a=MAX_TIMESTAMP, b=500) == {"b", "c"}


def test_aligned_sources_stay_close_in_a_running_job() -> None:
    """Without alignment the fast source is read to its end before the slow one is at 100 of its 1,000 ms."""

    class Times2(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            yield ctx.timestamp()

    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records=2))
    env.set_parallelism(1)
    slow = env.from_source(NumberSequenceSource(1, 50), aligned("g"), "slow", Types.LONG())
    fast = env.from_source(NumberSequenceSource(1, 50), aligned("g", 10), "fast", Types.LONG())
    times = slow.union(fast).process(Times2(), Types.LONG())
    seen = list(times.execute_and_collect())
    assert sorted(seen) == sorted([*range(1, 51), *range(10, 501, 10)])
    while_slow_runs = seen[: seen.index(40)]
    assert max(while_slow_runs) <= 40 + 10 + 2 * 10
