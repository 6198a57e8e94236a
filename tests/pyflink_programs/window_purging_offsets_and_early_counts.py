# compare: sorted
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.functions import AllWindowFunction
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        return ["%s %s" % (key, [e[2] for e in inputs])]


class ShowAll(AllWindowFunction):
    def apply(self, window, inputs):
        yield "all [%d, %d) %s" % (window.start, window.end, [e[2] for e in inputs])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", t, t * t) for t in range(0, 40, 3)] + [("b", 45, 7)]
events = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
)
keyed = events.key_by(lambda v: v[0], Types.STRING())
keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(4))).apply(Show(), Types.STRING()).map(
    lambda s: "purging " + s, Types.STRING()
).print()
keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(5))).apply(Show(), Types.STRING()).map(
    lambda s: "offset " + s, Types.STRING()
).print()
keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10))).trigger(CountTrigger.of(3)).apply(
    Show(), Types.STRING()
).map(lambda s: "sliding " + s, Types.STRING()).print()
events.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).apply(ShowAll(), Types.STRING()).print()
env.execute()
