# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

from pyflink.datastream import MapFunction

FACTOR = 3


def helper(n):
    return n * FACTOR


class Base(MapFunction):
    offset = 100

    def map(self, value):
        return self.change(value) + self.offset


class Sub(Base):
    def __init__(self, extra):
        self.extra = extra

    def change(self, value):
        return helper(value) + self.extra


env.from_collection([1, 2], Types.INT()).map(Sub(1000), Types.INT()).print()
env.execute()
