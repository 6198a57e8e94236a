# compare: exact
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class SessionByTimer(KeyedProcessFunction):
    """Collects what arrives, and reports when nothing came for a second; the timer is moved each time."""

    def open(self, runtime_context):
        self.words = runtime_context.get_list_state(ListStateDescriptor("words", Types.STRING()))
        self.end = runtime_context.get_state(ValueStateDescriptor("end", Types.LONG()))

    def process_element(self, value, ctx):
        old = self.end.value()
        if old is not None:
            ctx.timer_service().delete_event_time_timer(old)
        new = max(old or 0, ctx.timestamp() + 1000)
        self.end.update(new)
        ctx.timer_service().register_event_time_timer(new)
        self.words.add(value[2])

    def on_timer(self, timestamp, ctx):
        yield "%s until %d: %s" % (ctx.get_current_key(), timestamp, "+".join(sorted(self.words.get())))
        self.words.clear()
        self.end.clear()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
clicks = env.from_collection(
    [("ann", 1000, "a"), ("bob", 1100, "b"), ("ann", 1500, "c"), ("ann", 1300, "d"), ("bob", 1900, "e")],
    Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()]),
)
strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500)).with_timestamp_assigner(Clock())
timed = clicks.assign_timestamps_and_watermarks(strategy)
timed.key_by(lambda v: v[0]).process(SessionByTimer(), Types.STRING()).print()
env.execute()
