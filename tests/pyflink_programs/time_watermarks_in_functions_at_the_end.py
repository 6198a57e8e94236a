# compare: sorted
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import CoProcessFunction, KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class AtTimers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 5)
        ctx.timer_service().register_event_time_timer(9223372036854775807)

    def on_timer(self, timestamp, ctx):
        yield "%s %d %s %d %s" % (ctx.get_current_key(), timestamp, ctx.time_domain().name, ctx.timestamp(),
                                  ctx.timer_service().current_watermark() >= timestamp)


class Stamps(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s at %d" % (value, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
events = env.from_collection([("a", 10), ("b", 3), ("a", 7)], pair).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(20)).with_timestamp_assigner(Stamp()))
timers = events.key_by(lambda e: e[0], Types.STRING()).process(AtTimers(), Types.STRING())
timers.process(Stamps(), Types.STRING()).print()
env.execute()
