# compare: exact
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, "two", 3.5, ("four", 4), [5, "five"], {"six": 6}, True]).print()
env.execute("untyped objects")
