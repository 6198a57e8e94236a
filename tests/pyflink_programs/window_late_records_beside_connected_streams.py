# compare: sorted
from pyflink.common import Types, WatermarkStrategy, Time, Row
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import *
from pyflink.datastream.functions import *
from pyflink.datastream.state import *
from pyflink.datastream.window import *


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.INT()]))
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
a = env.from_collection(
    [("x", 1), ("y", 3), ("x", 12), ("x", 27)], Types.TUPLE([Types.STRING(), Types.INT()])
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp()))
b = env.from_collection(
    [("y", 2), ("x", 9), ("z", 11)], Types.TUPLE([Types.STRING(), Types.INT()])
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp()))
w = (
    a.union(b)
    .key_by(lambda t: t[0], Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .allowed_lateness(5)
    .side_output_late_data(late)
)


class Agg(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, v, acc):
        return acc + [v[1]]

    def get_result(self, acc):
        return ",".join(map(str, sorted(acc)))

    def merge(self, x, y):
        return x + y


class PW(ProcessWindowFunction):
    def process(self, key, ctx, elements):
        yield Row(key, ctx.window().start, list(elements)[0])


r = w.aggregate(Agg(), PW(), Types.PICKLED_BYTE_ARRAY(), Types.ROW([Types.STRING(), Types.LONG(), Types.STRING()]))
r.print("w")
r.get_side_output(late).print("late")


class Join(CoProcessFunction):
    def process_element1(self, v, ctx):
        yield "1 %s" % v[0]

    def process_element2(self, v, ctx):
        yield "2 %s %s" % (v[0], v[2])


a.connect(r).process(Join(), Types.STRING()).print("c")
a.key_by(lambda t: t[0]).connect(b.key_by(lambda t: t[0])).flat_map(
    type("F", (CoFlatMapFunction,), {"flat_map1": lambda s, v: [v[1]] * 2, "flat_map2": lambda s, v: [-v[1]]})(),
    Types.INT(),
).print("f")
a.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(10))).process(
    type(
        "A", (ProcessAllWindowFunction,), {"process": lambda s, ctx, es: [len(list(es))], "clear": lambda s, c: None}
    )(),
    Types.INT(),
).print("all")
env.execute()
