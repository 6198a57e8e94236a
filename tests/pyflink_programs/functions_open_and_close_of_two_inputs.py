# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import (BroadcastProcessFunction, CoFlatMapFunction, CoMapFunction, CoProcessFunction,
                                          KeyedCoProcessFunction)
from pyflink.datastream.state import MapStateDescriptor


class Announced:
    def open(self, runtime_context):
        print(type(self).__name__, "opened", flush=True)

    def close(self):
        print(type(self).__name__, "closed", flush=True)


class CoMap(Announced, CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return -value


class CoFlat(Announced, CoFlatMapFunction):
    def flat_map1(self, value):
        yield value

    def flat_map2(self, value):
        yield -value


class CoProcess(Announced, CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield -value


class KeyedCoProcess(Announced, KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield value

    def process_element2(self, value, ctx):
        yield -value


class Broadcast(Announced, BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value

    def process_broadcast_element(self, value, ctx):
        yield -value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
left = env.from_collection([1, 2], Types.INT())
right = env.from_collection([3], Types.INT())
left.connect(right).map(CoMap(), Types.INT()).print()
env.execute()
left.connect(right).flat_map(CoFlat(), Types.INT()).print()
env.execute()
left.connect(right).process(CoProcess(), Types.INT()).print()
env.execute()
left.connect(right).key_by(lambda a: a, lambda b: b, Types.INT()).process(KeyedCoProcess(), Types.INT()).print()
env.execute()
rules = right.broadcast(MapStateDescriptor("rules", Types.INT(), Types.INT()))
left.connect(rules).process(Broadcast(), Types.INT()).print()
env.execute()
