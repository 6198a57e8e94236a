# compare: sorted-noprefix
import threading, functools, operator, re
from pyflink.common import Types, Row, Configuration
from pyflink.datastream import *
from pyflink.datastream.functions import *

LOCKED = re.compile(r"(\w)(\d+)")


class Base(MapFunction):
    table = {}

    def open(self, ctx):
        self.prefix = "%s/%d" % (
            ctx.get_task_name().split(" ")[0] if False else "t",
            ctx.get_number_of_parallel_subtasks(),
        )
        self.table = {k: k * 2 for k in range(5)}

    def map(self, v):
        return self.prefix, self.table.get(v[1], -1), self.word(v[0])

    def word(self, w):
        raise NotImplementedError


class Upper(Base):
    def word(self, w):
        return w.upper()


class Sel(KeySelector):
    def get_key(self, v):
        return v[2], v[1] > 2


class Red(ReduceFunction):
    def reduce(self, a, b):
        return a[0], a[1] + b[1], max(a[2], b[2])


class Split(FlatMapFunction):
    def flat_map(self, v):
        for m in LOCKED.finditer(v):
            yield m.group(1), int(m.group(2))


class Even(FilterFunction):
    def filter(self, v):
        return v[1] % 2 == 0


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
lines = env.from_collection(["a1 b2 c3", "a4", "", "zz b2"], Types.STRING())
pairs = lines.flat_map(Split(), Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.map(Upper(), Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])).key_by(Sel()).reduce(Red()).print("red")
pairs.filter(Even()).map(
    functools.partial(operator.getitem, {}) if False else (lambda p: Row(l=p[0], n=p[1])),
    Types.ROW_NAMED(["l", "n"], [Types.STRING(), Types.INT()]),
).key_by(lambda r: r.l).map(lambda r: r.as_dict(), Types.PICKLED_BYTE_ARRAY()).map(lambda d: sorted(d.items())).print(
    "even"
)
a, b = pairs.map(lambda p: p[1], Types.INT()), lines.map(len, Types.INT())
a.union(b).key_by(lambda n: n % 3, Types.INT()).process(
    type("P", (KeyedProcessFunction,), {"process_element": lambda self, v, ctx: [(ctx.get_current_key(), v)]})()
).print("u")
env.execute()
