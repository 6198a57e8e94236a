# compare: sorted
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, StreamExecutionEnvironment
from pyflink.datastream.window import SlidingEventTimeWindows

late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()]))


class Clock(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
event = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])
events = env.from_collection(
    [("a", 7, 1), ("b", 3, 2), ("a", 2, 3), ("a", 19, 4), ("a", 11, 5)], event
).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Clock())
)
sums = (
    events.key_by(lambda v: v[0], Types.STRING())
    .window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)))
    .allowed_lateness(1000)
    .side_output_late_data(late)
    .reduce(lambda x, y: (x[0], max(x[1], y[1]), x[2] + y[2]))
)
sums.print("sum")
sums.get_side_output(late).print("late")
env.execute()
