# compare: exact
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class AtEnd(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value)

    def on_timer(self, timestamp, ctx):
        yield "%d %d" % (timestamp, ctx.timer_service().current_watermark())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategies = {
    "monotonous": WatermarkStrategy.for_monotonous_timestamps(),
    "bounded": WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)),
    "none": WatermarkStrategy.no_watermarks(),
    # idleness first: PyFlink loses the assigner when with_idleness() comes after it
    "idle": WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_minutes(1)),
}
for label, strategy in strategies.items():
    timed = env.from_collection([5, 3, 9], Types.LONG()).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(Self())
    )
    timed.key_by(lambda v: 0).process(AtEnd(), Types.STRING()).print(label)
    env.execute()
