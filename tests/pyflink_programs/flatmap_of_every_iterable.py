# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

numbers = env.from_collection([1, 2], Types.INT())
numbers.flat_map(lambda n: [n] * n, Types.INT()).print("list")
numbers.flat_map(lambda n: (n, n + 1), Types.INT()).print("tuple")
numbers.flat_map(lambda n: {n}, Types.INT()).print("set")
numbers.flat_map(lambda n: (x for x in range(n)), Types.INT()).print("generator")
numbers.flat_map(lambda n: "ab", Types.STRING()).print("text")
numbers.flat_map(lambda n: {"k%d" % n: n}, Types.STRING()).print("dict")
env.execute()
