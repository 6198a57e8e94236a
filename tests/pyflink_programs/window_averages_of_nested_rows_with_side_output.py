# compare: sorted-noprefix
from pyflink.common import Types, WatermarkStrategy, Time, Duration, Row
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, OutputTag, ProcessWindowFunction, AggregateFunction
from pyflink.datastream.window import (
    TumblingEventTimeWindows,
    SlidingEventTimeWindows,
    EventTimeSessionWindows,
    CountTrigger,
    PurgingTrigger,
    EventTimeTrigger,
)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.at


class Avg(AggregateFunction):
    def create_accumulator(self):
        return Row(total=0.0, n=0)

    def add(self, value, acc):
        return Row(total=acc.total + value.detail.price, n=acc.n + 1)

    def get_result(self, acc):
        return acc.total / acc.n

    def merge(self, a, b):
        return Row(total=a.total + b.total, n=a.n + b.n)


BIG = OutputTag("big", Types.STRING())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        w = context.window()
        for e in elements:
            if e > 2:
                yield BIG, "%s %.2f" % (key, e)
            yield Row(key, w.start, w.end, e)

    def clear(self, context):
        pass


detail = Types.ROW_NAMED(["price", "tags"], [Types.DOUBLE(), Types.LIST(Types.STRING())])
sale = Types.ROW_NAMED(["shop", "at", "detail"], [Types.STRING(), Types.LONG(), detail])
rows = [
    Row(shop=s, at=t, detail=Row(price=p, tags=g))
    for s, t, p, g in [
        ("x", 1, 1.0, ["a"]),
        ("y", 2, 2.5, []),
        ("x", 4, 3.0, ["a", "b"]),
        ("x", 12, 5.0, []),
        ("y", 25, 1.0, ["c"]),
    ]
]
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
out = Types.ROW_NAMED(["shop", "start", "end", "avg"], [Types.STRING(), Types.LONG(), Types.LONG(), Types.DOUBLE()])
s = env.from_collection(rows, sale).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(3)).with_timestamp_assigner(Stamp())
)
w = (
    s.key_by(lambda r: r.shop, Types.STRING())
    .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    .aggregate(Avg(), Show(), Types.ROW([Types.DOUBLE(), Types.INT()]) if False else Types.PICKLED_BYTE_ARRAY(), out)
)
w.get_side_output(BIG).print("big")
w.map(lambda r: "%s %d-%d %.3f" % (r[0], r[1], r[2], r[3]), Types.STRING()).print("w")
env.execute()
