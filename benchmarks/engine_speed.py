"""Steady-state rates of the engine on this machine's Spark, as issue 2 defines them.

python benchmarks/engine_speed.py [keyed] [chain] [loop]

keyed   100,000 uniform keys, one ValueState read and written per record by a KeyedProcessFunction
chain   map, filter, map, filter without state
loop    the keyed container alone against a bare loop that decodes the same chunks and updates a dictionary

The rate is that of the epochs behind the third: by then processes have started and epochs have their size.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from typing import Any

from penstock.common import Types, WatermarkStrategy
from penstock.control.progress import JobProgress, set_progress_listener
from penstock.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import SinkFunction
from penstock.datastream.state import ValueStateDescriptor
from penstock.graph.job_request import JobRequest
from penstock.plan.translation import translate
from penstock.runtime.blueprint import JobSettings
from penstock.runtime.container import Container
from penstock.runtime.sources.base import Assignment
from penstock.testing.epochs import whole_epoch

KEYS = 100_000
KEYED_RECORDS = 16_000_000
CHAIN_RECORDS = 40_000_000
WARM_UP_EPOCHS = 3


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        if count % 1000 == 0:
            yield value[0], count


class Nowhere(SinkFunction):
    def invoke(self, value: Any, context: Any) -> None:
        pass


def numbers(env: StreamExecutionEnvironment, count: int) -> DataStream:
    env.set_parallelism(2)
    return env.from_source(NumberSequenceSource(1, count), WatermarkStrategy.no_watermarks(), "numbers")


def keyed(env: StreamExecutionEnvironment) -> None:
    pairs = numbers(env, KEYED_RECORDS).map(lambda n: (n * 7919 % KEYS, n))
    pairs.key_by(lambda pair: pair[0]).process(Count()).add_sink(Nowhere())


def chain(env: StreamExecutionEnvironment) -> None:
    stream = numbers(env, CHAIN_RECORDS).map(lambda n: (n % 1000, n)).filter(lambda pair: pair[0] % 2 == 0)
    stream.map(lambda pair: pair[1] + 1).filter(lambda n: n % 500 == 1).add_sink(Nowhere())


def on_spark(name: str, build: Any) -> None:
    moments: list[tuple[float, int]] = []

    def note(progress: JobProgress) -> None:
        if progress.epoch > WARM_UP_EPOCHS:
            moments.append((time.monotonic(), progress.records_in))

    set_progress_listener(note)
    env = StreamExecutionEnvironment.get_execution_environment()
    build(env)
    env.execute(name)
    (began, before), (ended, after) = moments[0], moments[-1]
    print(f"{name}: {(after - before) / (ended - began):,.0f} records/s in steady state, 2 cores")


def loop() -> None:
    gc.set_threshold(100_000, 50, 100)  # as in the workers
    env = StreamExecutionEnvironment()
    keyed(env)
    request = JobRequest("loop", tuple(env._ends()), {}, 2)
    job = translate(request, JobSettings("loop", "loop"))
    source = next(operator for operator in job.operators if operator.kind == "source")
    level_zero, level_one = Container(job, 0, 0), Container(job, 1, 0)
    level_zero.open()
    level_one.open()
    rows, _ = whole_epoch(level_zero, assignments={source.id: Assignment([(0, 2_000_000)])})
    mine = [row for row in rows if row.subtask == 0]
    records = sum(len(pickle.loads(row.payload)[1][2]) for row in mine)
    whole_epoch(level_one, mine)
    engine = min(_seconds(lambda: whole_epoch(level_one, mine)) for _ in range(3))
    bare = min(_seconds(lambda: _bare(mine)) for _ in range(3))
    per_record = [seconds / records * 1e9 for seconds in (bare, engine)]
    print(f"loop: bare {per_record[0]:.0f} ns, container {per_record[1]:.0f} ns a record: {bare / engine:.0%}")


def _bare(rows: list[Any]) -> None:
    counts: dict[Any, int] = {}
    for row in rows:
        for value in pickle.loads(row.payload)[1][2]:
            key = value[0]
            counts[key] = counts.get(key, 0) + 1


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["keyed", "chain", "loop"]
    if "keyed" in wanted:
        on_spark("keyed", keyed)
    if "chain" in wanted:
        on_spark("chain", chain)
    if "loop" in wanted:
        loop()
