# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import (AllWindowFunction, BroadcastProcessFunction, KeyedBroadcastProcessFunction,
                                          KeyedCoProcessFunction, ProcessAllWindowFunction, WindowFunction)
from pyflink.datastream.window import CountTrigger, GlobalWindows
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


def noted(name):
    class Noted:
        def open(self, runtime_context):
            print(name, "opened", runtime_context.get_number_of_parallel_subtasks(), flush=True)

        def close(self):
            print(name, "closed", flush=True)

    return Noted


class Plain(noted("broadcast"), BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield "element %d" % value

    def process_broadcast_element(self, value, ctx):
        yield "rule %s" % value


class Keyed(noted("keyed broadcast"), KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield "element %d of %d" % (value, ctx.get_current_key())

    def process_broadcast_element(self, value, ctx):
        yield "rule %s" % value


class Two(noted("keyed co-process"), KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        yield "one %s" % value

    def process_element2(self, value, ctx):
        yield "two %s" % value


class Apply(noted("window"), WindowFunction):
    def apply(self, key, window, inputs):
        yield "window of %d: %d" % (key, sum(inputs))


class ApplyAll(noted("all window"), ProcessAllWindowFunction):
    def process(self, context, elements):
        yield "all %d" % sum(elements)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2], Types.INT())
rules = env.from_collection(["r"], Types.STRING()).broadcast(RULES)
numbers.connect(rules).process(Plain(), Types.STRING()).print()
numbers.key_by(lambda n: n % 2, Types.INT()).connect(rules).process(Keyed(), Types.STRING()).print()
keyed = numbers.key_by(lambda n: n, Types.INT())
keyed.connect(keyed).process(Two(), Types.STRING()).print()
numbers.key_by(lambda n: 0, Types.INT()).count_window(2).apply(Apply(), Types.STRING()).print()
numbers.window_all(GlobalWindows.create()).trigger(CountTrigger.of(2)).process(ApplyAll(), Types.STRING()).print()
env.execute()
