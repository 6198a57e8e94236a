"""A job in which everybody waits for a slow operator at the end."""

import time

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource


def asks_a_slow_service(price: int) -> int:
    time.sleep(0.001)
    return price


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.enable_checkpointing(10_000)
orders = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "orders")
prices = orders.map(lambda n: n * 7 % 1000, output_type=Types.LONG()).name("price").rebalance()
checked = prices.map(asks_a_slow_service, output_type=Types.LONG()).name("credit check").uid("credit-check")
checked.filter(lambda price: price < 0).name("refused").print()
env.execute("slow credit check")
