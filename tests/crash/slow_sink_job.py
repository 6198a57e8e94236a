"""A source that gives what it is asked for, and a sink that takes a hundred records a second.

Arguments: the file that says how many records have come out.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

_SECONDS = 0.01
came_out = Path(sys.argv[1])


def wide(number: int) -> tuple[int, str]:
    return number % 97, f"{number:01000d}"


class SlowSink:
    def __init__(self) -> None:
        self._records = 0

    def __call__(self, pair: tuple[int, str]) -> bool:
        time.sleep(_SECONDS)
        self._records += 1
        if self._records % 100 == 0:
            with came_out.open("a") as file:
                file.write(f"{pair[1]}\n")
        return False


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_source(NumberSequenceSource(1, 1 << 50), WatermarkStrategy.no_watermarks(), "numbers")
pairs = numbers.map(wide, output_type=Types.TUPLE([Types.INT(), Types.STRING()]))
pairs.key_by(lambda pair: pair[0]).filter(SlowSink()).name("slow sink").print()
env.execute("slow sink")
