# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

one = env.from_collection([1, 2], Types.INT())
two = env.from_collection([3], Types.INT())
three = env.from_collection([4], Types.INT())
one.union(two, three).print("three")
one.union(one).map(lambda n: n * 10, Types.INT()).print("twice")
env.execute()
