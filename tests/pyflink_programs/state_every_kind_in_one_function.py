# compare: exact
from pyflink.common import *
from pyflink.datastream import *
from pyflink.datastream.state import *
from pyflink.datastream.functions import *

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


class P(KeyedProcessFunction):
    def open(self, c):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(1))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
            .cleanup_full_snapshot()
            .cleanup_incrementally(10, False)
            .build()
        )
        d = ValueStateDescriptor("v", Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.STRING())]))
        d.enable_time_to_live(ttl)
        self.v = c.get_state(d)
        self.l = c.get_list_state(ListStateDescriptor("l", Types.TUPLE([Types.INT(), Types.DOUBLE()])))
        self.m = c.get_map_state(MapStateDescriptor("m", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))
        self.r = c.get_reducing_state(ReducingStateDescriptor("r", lambda a, b: a + b, Types.LONG()))

        class A(AggregateFunction):
            def create_accumulator(self):
                return []

            def add(self, v, a):
                a.append(v)
                return a

            def get_result(self, a):
                return ",".join(map(str, a))

            def merge(self, a, b):
                return a + b

        self.a = c.get_aggregating_state(AggregatingStateDescriptor("a", A(), Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, x, ctx):
        out = [repr(self.v.value()), repr(list(self.l.get() or [])), self.m.is_empty(), self.r.get(), self.a.get()]
        self.v.update(Row(x, ["s%d" % x]))
        self.l.add((x, x / 2))
        self.l.add_all([(x, 0.0)])
        self.m.put("k%d" % x, {"set": {x}})
        self.m.put("z", None)
        self.r.add(x)
        self.a.add(x)
        out += [
            sorted(self.m.keys()),
            self.m.contains("k1"),
            sorted(str(v) for v in self.m.values()),
            sorted(str(i) for i in self.m.items()),
            self.m.get("nope"),
        ]
        if x == 3:
            self.l.clear()
            self.m.remove("k1")
            self.v.clear()
            self.a.clear()
        yield "|".join(map(str, out))


for x in (
    env.from_collection([1, 2, 3, 4, 5], Types.INT())
    .key_by(lambda v: v % 2, Types.INT())
    .process(P(), Types.STRING())
    .execute_and_collect()
):
    print(x)


class B(BroadcastProcessFunction):
    def __init__(self, d):
        self.d = d

    def process_element(self, v, ctx):
        st = ctx.get_broadcast_state(self.d)
        yield "e %s %s" % (v, type(st).__name__ != "")

    def process_broadcast_element(self, v, ctx):
        st = ctx.get_broadcast_state(self.d)
        st.put(v, v * 2)
        yield "b %s %s" % (v, sorted(st.items()))


d = MapStateDescriptor("rules", Types.INT(), Types.INT())
e = env.from_collection([10], Types.INT())
b = env.from_collection([1, 2], Types.INT())
print(sorted(e.connect(b.broadcast(d)).process(B(d), Types.STRING()).execute_and_collect()))


class C(KeyedCoProcessFunction):
    def open(self, c):
        self.s = c.get_state(ValueStateDescriptor("s", Types.STRING()))

    def process_element1(self, v, ctx):
        self.s.update((self.s.value() or "") + "L%s" % (v,))
        ctx.timer_service().register_event_time_timer(5)

    def process_element2(self, v, ctx):
        self.s.update((self.s.value() or "") + "R%s" % (v,))

    def on_timer(self, t, ctx):
        yield "%s %s %s %s" % (ctx.get_current_key(), t, ctx.time_domain(), "".join(sorted(self.s.value())))


print(
    sorted(
        e.connect(b).key_by(lambda v: 0, lambda v: 0, Types.INT()).process(C(), Types.STRING()).execute_and_collect()
    )
)
