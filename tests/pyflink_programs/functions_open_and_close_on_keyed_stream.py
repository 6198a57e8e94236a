# compare: sorted
from pyflink.common import Types
from pyflink.datastream import (FilterFunction, FlatMapFunction, KeyedProcessFunction, MapFunction, ProcessFunction,
                                StreamExecutionEnvironment)


class Announced:
    def open(self, runtime_context):
        self.offset = 1
        print(type(self).__name__, "opened", flush=True)

    def close(self):
        print(type(self).__name__, "closed", flush=True)


class Map(Announced, MapFunction):
    def map(self, value):
        return value + self.offset


class Flat(Announced, FlatMapFunction):
    def flat_map(self, value):
        yield value + self.offset


class Keep(Announced, FilterFunction):
    def filter(self, value):
        return value > self.offset


class Keyed(Announced, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value + self.offset


class Plain(Announced, ProcessFunction):
    def process_element(self, value, ctx):
        yield value + self.offset


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3], Types.INT())
keyed = numbers.key_by(lambda n: n, Types.INT())
keyed.map(Map(), Types.INT()).print()
env.execute()
keyed.flat_map(Flat(), Types.INT()).print()
env.execute()
keyed.filter(Keep()).print()
env.execute()
keyed.process(Keyed(), Types.INT()).print()
env.execute()
numbers.process(Plain(), Types.INT()).map(Map(), Types.INT()).flat_map(Flat(), Types.INT()).filter(Keep()).print()
env.execute()
