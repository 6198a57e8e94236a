# compare: exact
import json
import math

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

RATES = {"EUR": 1.0, "USD": 1.25}


def convert(amount, currency):
    return math.floor(amount / RATES[currency] * 100) / 100


def make_formatter(prefix):
    count = 0

    def format_value(value):
        nonlocal count
        count += 1
        return "%s%d:%s" % (prefix, count, json.dumps(value, sort_keys=True))

    return format_value


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    orders = env.from_collection(['{"c": "EUR", "a": 10}', '{"c": "USD", "a": 10}'], Types.STRING())
    orders.map(json.loads).map(lambda o: {"eur": convert(o["a"], o["c"])}).map(make_formatter("#")).print()
    env.execute()
