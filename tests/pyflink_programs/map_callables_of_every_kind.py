# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

import functools
import operator


class Callable:
    def __init__(self, n):
        self.n = n

    def __call__(self, value):
        return value + self.n


class Holder:
    def method(self, value):
        return -value

    @staticmethod
    def static(value):
        return value * 7


numbers = env.from_collection([1, 2], Types.INT())
numbers.map(Callable(5), Types.INT()).print("object")
numbers.map(Holder().method, Types.INT()).print("method")
numbers.map(Holder.static, Types.INT()).print("static")
numbers.map(functools.partial(operator.add, 10), Types.INT()).print("partial")
numbers.map(str, Types.STRING()).print("builtin")
env.execute()
