# compare: exact
# A data class that is not frozen cannot be hashed, and is a key all the same.
import dataclasses
import enum

from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


@dataclasses.dataclass
class D:
    a: int


class E(enum.Enum):
    A = 1
    B = 2


@dataclasses.dataclass(frozen=True)
class F:
    a: int


class P(KeyedProcessFunction):
    def process_element(self, v, ctx):
        yield "%s %s" % (ctx.get_current_key(), v)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
keys = {"D": lambda v: D(v), "E": lambda v: E(v), "F": lambda v: F(v), "setlist": lambda v: (frozenset([v]), {v: [v]})}
for name, k in keys.items():
    shown = list(env.from_collection([1, 2, 1]).key_by(k).process(P()).execute_and_collect())
    pairs = env.from_collection([(1, 2), (2, 3), (1, 4)])
    print(name, shown, list(pairs.key_by(lambda v, k=k: k(v[0])).sum(1).execute_and_collect()))
