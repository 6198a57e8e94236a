"""A savepoint of a large state, taken while the job runs: how long it takes, and what the job loses by it.

    python benchmarks/savepoint_speed.py [--keys 1000000] [--bytes 100]

The rate is that of the source records of whole epochs: in the ten seconds before the savepoint is asked for, and in the
twenty seconds from then on.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.control.progress import JobProgress, set_progress_listener
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import SinkFunction
from penstock.datastream.state import ValueStateDescriptor

BEFORE, BEHIND = 10.0, 20.0


class Keep(KeyedProcessFunction):
    def __init__(self, size: int) -> None:
        self._repeat = -(-size // 8)

    def open(self, runtime_context: Any) -> None:
        self._state = runtime_context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: int, ctx: Any) -> Any:
        old = self._state.value()
        # Bytes of its own for every value: pickling would write equal objects once.
        self._state.update((1 if old is None else old[0] + 1, value.to_bytes(8, "little") * self._repeat))
        return ()


class Nowhere(SinkFunction):
    def invoke(self, value: Any, context: Any) -> None:
        pass


def run(keys: int, size: int) -> None:
    moments: list[tuple[float, int]] = []
    filled = threading.Event()

    def note(progress: JobProgress) -> None:
        moments.append((time.monotonic(), progress.records_in))
        if progress.records_in > 2 * keys:
            filled.set()

    set_progress_listener(note)
    home = tempfile.mkdtemp()
    configuration = Configuration.from_dict({"penstock.home": home, "spark.driver.memory": "3g"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    numbers = env.from_source(NumberSequenceSource(0, 1 << 50), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda n: n % keys, key_type=Types.LONG()).process(Keep(size)).add_sink(Nowhere())
    job = env.execute_async("savepoint speed")
    filled.wait()
    time.sleep(BEFORE)
    asked = time.monotonic()
    path = job.trigger_savepoint(home).result()
    took = time.monotonic() - asked
    time.sleep(max(0.0, asked + BEHIND - time.monotonic()))
    job.cancel().result()
    written = sum(file.stat().st_size for file in Path(path).iterdir())
    before, behind = _rate(moments, asked - BEFORE, asked), _rate(moments, asked, asked + BEHIND)
    print(f"{keys:,} keys of {size} bytes: savepoint of {written / 1e6:.0f} MB in {took:.1f} s")
    print(f"rate before {before:,.0f} /s, from then on {behind:,.0f} /s: {behind / before - 1:+.0%}")


def _rate(moments: list[tuple[float, int]], since: float, until: float) -> float:
    inside = [moment for moment in moments if since <= moment[0] <= until]
    (began, first), (ended, last) = inside[0], inside[-1]
    return (last - first) / (ended - began)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=100)
    arguments = parser.parse_args()
    run(arguments.keys, arguments.bytes)
