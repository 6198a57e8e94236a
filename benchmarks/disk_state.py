"""Keyed state on disk: how fast are updates of more keys than the memory takes?

    python benchmarks/disk_state.py [--keys 5000000] [--bytes 200] [--updates 2000000] [--memory 96m]

First every key is written once, then uniform updates are made, then updates of one key in ten thousand. Prints
the records a second of each phase, and the largest memory of the Python workers.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.state import ValueStateDescriptor

EVERY = 10_000


class Replace(KeyedProcessFunction):
    """A value of some bytes per key; only every 10,000th update is told, so that the sink costs nothing."""

    def __init__(self, size: int) -> None:
        self._repeat = -(-size // 8)

    def open(self, runtime_context: Any) -> None:
        self._state = runtime_context.get_state(ValueStateDescriptor("value", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: int, ctx: Any) -> Any:
        old = self._state.value()
        count = 1 if old is None else old[0] + 1
        # Bytes of its own for every value: pickling would write equal objects once.
        self._state.update((count, value.to_bytes(8, "little") * self._repeat))
        if value % EVERY == 0:
            yield value


def run(arguments: argparse.Namespace) -> None:
    keys, updates = arguments.keys, arguments.updates
    bounds = (keys, keys + updates, keys + 2 * updates)

    def key_of(number: int) -> int:
        if number < keys:
            return number
        mixed = (number * 0x9E3779B97F4A7C15 & (1 << 64) - 1) >> 20
        return mixed % (keys if number < bounds[1] else max(1, keys // 10_000))

    configuration = Configuration()
    configuration.set_string("state.backend.type", arguments.backend)
    configuration.set_string("state.backend.rocksdb.memory.fixed-per-slot", arguments.memory)
    configuration.set_string("penstock.home", tempfile.mkdtemp(dir=arguments.home))
    configuration.set_string("state.backend.rocksdb.localdir", arguments.localdir)
    configuration.set_string("spark.driver.memory", "3g")
    configuration.set_string("penstock.epoch.max-records", str(arguments.epoch_records))
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    numbers = NumberSequenceSource(0, bounds[-1] - 1)
    source = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    source.set_parallelism(1)  # several would read several phases at once
    told = source.key_by(key_of, key_type=Types.LONG()).process(Replace(arguments.bytes), output_type=Types.LONG())
    largest = Largest()
    largest.start()
    moments: list[float] = []
    with told.execute_and_collect() as results:
        for _ in results:
            moments.append(time.monotonic())
    told_by = [0, *(bound // EVERY for bound in bounds)]
    for name, first, last in zip(("fill", "uniform", "repeated"), told_by, told_by[1:], strict=False):
        # The epoch that a phase begins with belongs half to the one before, and the job's start is nobody's.
        begun = next(i for i in range(first, last) if moments[i] > moments[first])
        rate = (last - begun) * EVERY / (moments[last - 1] - moments[first])
        print(f"{name:10} {(last - first) * EVERY:>10,} records {rate:>10,.0f} /s", flush=True)
    print(f"largest Python worker {largest.bytes >> 20:,} MB, all workers {largest.together >> 20:,} MB")


class Largest(threading.Thread):
    """Looks at the memory of the Python workers now and then."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes = self.together = 0

    def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while True:
            sizes = []
            for process in _descendants(os.getpid()):
                try:
                    if "python" in os.readlink(f"/proc/{process}/exe"):
                        resident, shared = Path(f"/proc/{process}/statm").read_text().split()[1:3]
                        sizes.append((int(resident) - int(shared)) * page)
                except OSError:
                    continue
            self.bytes = max(self.bytes, *sizes, 0) if sizes else self.bytes
            self.together = max(self.together, sum(sizes))
            time.sleep(1)


def _descendants(process: int) -> list[int]:
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout.split("\n")
    children: dict[int, list[int]] = {}
    for line in found:
        if line.strip():
            child, parent = map(int, line.split())
            children.setdefault(parent, []).append(child)
    result, open_ = [], [process]
    while open_:
        for child in children.get(open_.pop(), []):
            result.append(child)
            open_.append(child)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--bytes", type=int, default=200)
    parser.add_argument("--updates", type=int, default=2_000_000)
    parser.add_argument("--memory", default="96m")
    parser.add_argument("--epoch-records", type=int, default=200_000)
    parser.add_argument("--backend", default="rocksdb")
    parser.add_argument("--home", default=None)
    parser.add_argument("--localdir", default=tempfile.gettempdir())
    run(parser.parse_args())
