# compare: sorted
import asyncio
from pyflink.common import Types, Time, Row
from pyflink.datastream import *
from pyflink.datastream.functions import *


class Look(AsyncFunction):
    async def async_invoke(self, v):
        await asyncio.sleep(0.001 * (5 - v % 5))
        return [Row(v, v * v)] if v % 3 else []

    def timeout(self, v):
        return [Row(v, -1)]


class Never(AsyncFunction):
    async def async_invoke(self, v):
        await asyncio.sleep(30 if v == 2 else 0)
        return [v]

    def timeout(self, v):
        return [-v]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
ds = env.from_collection(list(range(8)), Types.INT())
t = Types.ROW([Types.INT(), Types.INT()])
AsyncDataStream.unordered_wait(ds, Look(), Time.seconds(20), 4, t).print("u")
AsyncDataStream.ordered_wait(ds, Look(), Time.seconds(20), 4, t).map(lambda r: r[0] + r[1], Types.INT()).print("o")
AsyncDataStream.unordered_wait(ds, Never(), Time.seconds(1), 10, Types.INT()).key_by(lambda v: abs(v) % 2).reduce(
    lambda a, b: a + b
).print("r") if False else AsyncDataStream.unordered_wait(ds, Never(), Time.seconds(1), 10, Types.INT()).print("n")
env.execute()
