"""Counts views by app without end, fails once, and goes on; most views are of one app."""

from __future__ import annotations

import os
import sys
import time

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.state import ValueStateDescriptor

marker = sys.argv[1]
View = tuple[str, int]


def to_view(number: int) -> View:
    time.sleep(0.002)
    if number == 100 and not os.path.exists(marker):
        open(marker, "w").close()
        raise ValueError("the hundredth view is broken")
    return ("app-1" if number % 10 else f"app-{number % 7}", number)


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: View, ctx: KeyedProcessFunction.Context):
        self.total.update((self.total.value() or 0) + 1)
        yield value


configuration = Configuration()
configuration.set_string("execution.checkpointing.interval", "2s")
configuration.set_string("restart-strategy.type", "fixed-delay")
configuration.set_string("restart-strategy.fixed-delay.delay", "1s")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
numbers = env.from_source(NumberSequenceSource(1, 10_000_000), WatermarkStrategy.no_watermarks(), "numbers")
views = numbers.map(to_view, Types.TUPLE([Types.STRING(), Types.LONG()])).name("to views").uid("views")
counts = views.key_by(lambda view: view[0]).process(Count()).name("count").uid("count")
counts.filter(lambda view: False).name("nothing").print()
env.execute("views by app")
