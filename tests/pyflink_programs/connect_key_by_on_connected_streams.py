# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoMapFunction, KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ReducingStateDescriptor


class Tally(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", max, Types.INT()))

    def process_element1(self, value, ctx):
        self.total.add(len(value))
        ctx.timer_service().register_event_time_timer(1)

    def process_element2(self, value, ctx):
        self.total.add(value)
        ctx.timer_service().register_event_time_timer(2)

    def on_timer(self, timestamp, ctx):
        yield "key %s at %d: %d" % (ctx.get_current_key(), timestamp, self.total.get())


class Show(CoMapFunction):
    def map1(self, value):
        return "w " + value

    def map2(self, value):
        return "n %d" % value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["a", "bb", "ccc", "dddd"], Types.STRING())
numbers = env.from_collection([1, 10, 3], Types.INT())
connected = words.connect(numbers).key_by(lambda w: len(w) % 2, lambda n: n % 2)
connected.process(Tally(), Types.STRING()).print()
env.execute()
words.connect(numbers).key_by(lambda w: len(w) % 2, lambda n: n % 2, Types.INT()).map(Show(), Types.STRING()).print()
env.execute()
