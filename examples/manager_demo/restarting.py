"""A job that fails every half minute or so, and goes on from its last epoch."""

import time

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource


def fails_at_times(number: int) -> int:
    time.sleep(0.0005)
    if number % 20_000 == 19_999 and int(time.time()) % 2:
        raise ConnectionError("the price service is away")
    return number


configuration = Configuration()
configuration.set_string("restart-strategy.type", "fixed-delay")
configuration.set_string("restart-strategy.fixed-delay.attempts", "1000000")
configuration.set_string("restart-strategy.fixed-delay.delay", "3 s")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
env.enable_checkpointing(10_000)
numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "ticks")
numbers.map(fails_at_times, output_type=Types.LONG()).name("price").filter(lambda n: n < 0).print()
env.execute("restarting prices")
