# compare: sorted
# Watermarks that come between records need a wait in a bounded job: the map holds back what is to be late, until
# several watermark intervals (1 ms) have passed.
import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows

too_late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %d %s" % (key, context.window().start, [e[1] for e in elements])


def wait(value):
    time.sleep(1.0)
    return value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.get_config().set_auto_watermark_interval(1)
env.configure(Configuration().set_string("python.fn-execution.bundle.size", "1"))
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
# 5 and 8 come when the watermark is 11: within the lateness; 3 when it is 30: too late
data = [("a", 1), ("a", 12), ("a", 5), ("a", 8), ("a", 31), ("a", 3)]
events = env.from_collection(data, pair).map(wait, pair).disable_chaining().assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Clock())
)
windowed = (
    events.key_by(lambda v: v[0], Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .allowed_lateness(10)
    .side_output_late_data(too_late)
    .process(Show(), Types.STRING())
)
windowed.print("window")
windowed.get_side_output(too_late).print("late")
env.execute()
