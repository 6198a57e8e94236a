# compare: exact
from pyflink.common import Types, Row
from pyflink.datastream import StreamExecutionEnvironment, KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class C(KeyedProcessFunction):
    def open(self, c):
        self.n = c.get_state(ValueStateDescriptor("n", Types.INT()))

    def process_element(self, v, ctx):
        n = (self.n.value() or 0) + 1
        self.n.update(n)
        k = ctx.get_current_key()
        yield "%s %d" % (sorted(k) if isinstance(k, (set, frozenset)) else k, n)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
d = env.from_collection([1, 2, 1, 3])
for name, key in [
    ("list", lambda v: [v]),
    ("dict", lambda v: {"k": v}),
    ("set", lambda v: {v}),
    ("bytearray", lambda v: bytearray([v])),
    ("tuple", lambda v: (v, [v])),
    ("row", lambda v: Row(v, [v])),
    ("none", lambda v: None if v == 1 else v),
    ("nested", lambda v: {"a": [{"b": {v}}]}),
    ("frozenset", lambda v: frozenset([v])),
    ("complex", lambda v: complex(v, 1)),
    ("bytes", lambda v: bytes([v])),
]:
    print(name, list(d.key_by(key).process(C(), Types.STRING()).execute_and_collect()))
for t, key in [
    (Types.LIST(Types.INT()), lambda v: [v]),
    (Types.MAP(Types.STRING(), Types.INT()), lambda v: {"a": v}),
    (Types.ROW([Types.INT()]), lambda v: Row(v)),
    (Types.TUPLE([Types.INT(), Types.STRING()]), lambda v: (v, "x")),
    (Types.DOUBLE(), lambda v: v / 2),
    (Types.BIG_DEC(), lambda v: __import__("decimal").Decimal(v)),
]:
    try:
        print(t, list(d.key_by(key, t).process(C(), Types.STRING()).execute_and_collect()))
    except BaseException as e:
        print(t, "fails")
