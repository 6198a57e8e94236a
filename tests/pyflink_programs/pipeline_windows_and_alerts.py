# compare: sorted-noprefix
from pyflink.common import Types, WatermarkStrategy, Time, Row
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import *
from pyflink.datastream.functions import *
from pyflink.datastream.state import *
from pyflink.datastream.window import *


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["at"]


class Count(ProcessWindowFunction):
    def open(self, ctx):
        self.metric = ctx.get_metrics_group().counter("n")

    def process(self, key, ctx, elements):
        st = ctx.global_state().get_state(ValueStateDescriptor("runs", Types.INT()))
        st.update((st.value() or 0) + 1)
        yield {
            "key": key,
            "end": ctx.window().end,
            "n": len(elements),
            "run": st.value(),
            "wm": ctx.current_watermark() >= ctx.window().max_timestamp(),
        }


class Alert(KeyedProcessFunction):
    def open(self, ctx):
        self.last = ctx.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, v, ctx):
        prev = self.last.value()
        if prev and v["n"] > prev["n"]:
            yield "rise %s %d->%d at %d" % (v["key"], prev["n"], v["n"], ctx.timestamp())
        self.last.update(v)
        ctx.timer_service().register_event_time_timer(v["end"] + 5)

    def on_timer(self, ts, ctx):
        yield "timer %s %d %s" % (ctx.get_current_key(), ts, self.last.value()["run"])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
events = [{"id": "s%d" % (i % 3), "at": i * 3, "v": i} for i in range(20)]
ds = env.from_collection(events).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
)
win = (
    ds.filter(lambda e: e["v"] % 7)
    .key_by(lambda e: e["id"])
    .window(SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10)))
    .process(Count())
)
win.key_by(lambda w: w["key"], Types.STRING()).process(Alert(), Types.STRING()).print()
win.map(lambda w: (w["key"], w["n"], w["run"], w["wm"])).print("w")
ds.map(lambda e: e["v"]).window_all(TumblingEventTimeWindows.of(Time.milliseconds(30))).reduce(
    lambda a, b: a + b
).print("all")
env.execute("windows and alerts")
