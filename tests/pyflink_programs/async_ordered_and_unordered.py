# compare: exact
import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Double(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.05 if value % 2 else 0.01)
        return [value, value * 2]


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(60 if value == 2 else 0)
        return [value]

    def timeout(self, value):
        return [-value]


class Fails(AsyncFunction):
    async def async_invoke(self, value):
        raise ValueError("asked for %d" % value)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3], Types.INT())
print(list(AsyncDataStream.ordered_wait(numbers, Double(), Time.seconds(20), 2, Types.INT()).execute_and_collect()))
print(sorted(AsyncDataStream.unordered_wait(numbers, Double(), Time.seconds(20), 2, Types.INT()).execute_and_collect()))
print(list(AsyncDataStream.ordered_wait(numbers, Slow(), Time.seconds(1), 5, Types.INT()).execute_and_collect()))
try:
    list(AsyncDataStream.ordered_wait(numbers, Fails(), Time.seconds(20), 2, Types.INT()).execute_and_collect())
    print("it ran")
except Exception as error:
    print("failed", "asked for" in str(error))
