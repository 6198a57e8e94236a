"""Counts numbers by remainder into files, slowly until a gate is open; on processes unless Spark is asked for."""

from __future__ import annotations

import os
import sys
import time

from penstock.common import Encoder, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.testing.resident_processes import ProcessExecutor

output, count, gate = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def slowly(number: int) -> tuple[int, int]:
    if not os.path.exists(gate):
        time.sleep(0.02)
    return number % 5, number


def added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0], one[1] + other[1]


env = StreamExecutionEnvironment.get_execution_environment()
if sys.argv[4:] != ["on-spark"]:
    env._executor = ProcessExecutor()
numbers = env.from_source(NumberSequenceSource(1, count), WatermarkStrategy.no_watermarks(), "numbers")
pairs = numbers.map(slowly, output_type=Types.TUPLE([Types.LONG(), Types.LONG()])).name("slowly").uid("slowly")
sums = pairs.key_by(lambda pair: pair[0]).reduce(added).name("sums").uid("sums")
texts = sums.map(lambda pair: f"{pair[0]} {pair[1]}", output_type=Types.STRING())
texts.sink_to(FileSink.for_row_format(output, Encoder.simple_string_encoder()).build())
env.execute("counting")
