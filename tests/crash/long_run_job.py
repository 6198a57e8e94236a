"""A job without end: numbers at a steady rate, counted by key in state, every count a line of a file.

Arguments: the directory of the results, records a second, keys, and when the first record is due. A line is
`key,count,due`, with the moment at which the record was due in milliseconds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from penstock.common import Encoder, Types, WatermarkStrategy
from penstock.connectors import Fetch, Source, SourceReader, Split, SplitEnumerator
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, RollingPolicy
from penstock.datastream.state import ValueStateDescriptor


class SteadyNumbers(Source):
    """Each split has its share of the rate; record n of it is due at its start + n / rate, whoever reads it."""

    bounded = False

    def __init__(self, splits: int, per_second: int, began: float) -> None:
        self._splits, self._rate, self._began = splits, per_second // splits, began

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        return _AllAtOnce(self._splits)

    def create_reader(self, context: Any) -> SourceReader:
        return _Reader(self._splits, self._rate, self._began)

    def get_produced_type(self) -> Any:
        return Types.TUPLE([Types.LONG(), Types.LONG()])


class _AllAtOnce(SplitEnumerator):
    def __init__(self, splits: int) -> None:
        self._splits = splits

    def discover(self) -> list[Split]:
        return [Split(str(number), 0) for number in range(self._splits)]


class _Reader(SourceReader):
    def __init__(self, splits: int, rate: int, began: float) -> None:
        self._splits, self._rate, self._began = splits, rate, began
        self._at: dict[str, int] = {}

    def add_split(self, split: Split, position: int) -> None:
        self._at[split.split_id] = position

    def remove_split(self, split_id: str) -> None:
        del self._at[split_id]

    def fetch(self, max_records: int) -> Fetch | None:
        for name, position in self._at.items():
            due = min(int((time.time() - self._began) * self._rate), position + max_records)
            if due > position:
                self._at[name] = due
                return Fetch(name, [self._record(name, number) for number in range(position, due)], due)
        return None

    def _record(self, split: str, number: int) -> tuple[int, int]:
        return number * self._splits + int(split), int((self._began + number / self._rate) * 1000)


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{ctx.get_current_key()},{count},{value[1]}"


def main() -> None:
    results, rate, keys, began = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    numbers = env.from_source(SteadyNumbers(2, rate, began), WatermarkStrategy.no_watermarks(), "steady")
    lines = numbers.key_by(lambda value: value[0] * 2654435761 % keys).process(Count(), Types.STRING())
    sink = FileSink.for_row_format(results, Encoder.simple_string_encoder())
    lines.sink_to(sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build())
    env.execute("a long run")


if __name__ == "__main__":
    main()
