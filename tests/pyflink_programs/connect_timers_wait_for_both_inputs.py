# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Merge(KeyedCoProcessFunction):
    """Puts the records of both inputs into the order of time."""

    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.LONG()))

    def process_element1(self, value, ctx):
        self.waiting.add(ctx.timestamp())
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def process_element2(self, value, ctx):
        self.waiting.add(ctx.timestamp())
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp, ctx):
        due = [t for t in self.waiting.get() if t == timestamp]
        yield "%s %d x%d %s" % (ctx.get_current_key(), timestamp, len(due), ctx.time_domain().name)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
left = env.from_collection([("a", 1), ("a", 5), ("b", 9)], pair).assign_timestamps_and_watermarks(strategy)
right = env.from_collection([("a", 3), ("a", 5), ("b", 7)], pair).assign_timestamps_and_watermarks(strategy)
left.key_by(lambda v: v[0], Types.STRING()).connect(right.key_by(lambda v: v[0], Types.STRING())).process(
    Merge(), Types.STRING()
).print()
env.execute()
