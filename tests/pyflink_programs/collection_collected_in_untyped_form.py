# compare: exact
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [1, "two", 3.5, ("four", 4), [5], {"six": 6}, True, {7, 8}, b"nine", 10j]
for value in env.from_collection(data).execute_and_collect():
    print(type(value).__name__, repr(value))
