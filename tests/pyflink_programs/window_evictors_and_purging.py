# compare: exact
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessWindowFunction
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger, TumblingEventTimeWindows


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 1000


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %s" % (key, sorted(elements))

    def clear(self, context):
        pass


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection(list(range(1, 9)), Types.INT()).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp()))
keyed = numbers.key_by(lambda n: n % 2, Types.INT())
for window in (
    keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2))),
    keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2)),
    keyed.window(TumblingEventTimeWindows.of(Time.seconds(4))).trigger(CountTrigger.of(2)),
    keyed.window(TumblingEventTimeWindows.of(Time.seconds(4), Time.seconds(1))),
):
    print(list(window.process(Show(), Types.STRING()).execute_and_collect()))
