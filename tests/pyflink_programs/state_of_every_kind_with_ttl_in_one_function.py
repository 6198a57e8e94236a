# compare: sorted
from pyflink.common import Types, WatermarkStrategy, Time
from pyflink.datastream import StreamExecutionEnvironment, KeyedProcessFunction, MapFunction, RuntimeContext
from pyflink.datastream.state import *


class Dedup(KeyedProcessFunction):
    def __init__(self, hours):
        self.hours = hours

    def open(self, ctx):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(self.hours))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .cleanup_full_snapshot()
            .build()
        )
        d = ValueStateDescriptor("seen", Types.BOOLEAN())
        d.enable_time_to_live(ttl)
        m = MapStateDescriptor("by", Types.STRING(), Types.INT())
        m.enable_time_to_live(ttl)
        l = ListStateDescriptor("all", Types.INT())
        l.enable_time_to_live(ttl)
        r = AggregatingStateDescriptor("agg", Mean(), Types.PICKLED_BYTE_ARRAY())
        self.seen, self.by, self.all, self.agg = (
            ctx.get_state(d),
            ctx.get_map_state(m),
            ctx.get_list_state(l),
            ctx.get_aggregating_state(r),
        )
        self.sum = ctx.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT()))

    def process_element(self, v, ctx):
        first = not self.seen.value()
        self.seen.update(True)
        self.by.put(v[1], (self.by.get(v[1]) or 0) + 1)
        self.all.add_all([v[2], -v[2]])
        self.agg.add(v[2])
        self.sum.add(v[2])
        yield "%s %s %s %s %s %s %s" % (
            v[0],
            first,
            dict(sorted(self.by.items())),
            list(self.all),
            self.agg.get(),
            self.sum.get(),
            self.by.is_empty(),
        )
        if v[2] == 3:
            self.all.update([7])
            self.agg.clear()
            self.by.remove("p")


from pyflink.datastream.functions import AggregateFunction


class Mean(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, v, a):
        return a[0] + v, a[1] + 1

    def get_result(self, a):
        return None if not a[1] else a[0] / a[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
ds = env.from_collection(
    [("a", "p", 1), ("b", "q", 2), ("a", "p", 3), ("a", "q", 4), ("b", "q", 5)],
    Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()]),
)
for x in ds.key_by(lambda t: t[0]).process(Dedup(1), Types.STRING()).execute_and_collect():
    print(x)
