# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

numbers = env.from_collection(list(range(8)), Types.INT())
keyed = numbers.key_by(lambda n: n % 2, Types.INT())
keyed.filter(lambda n: n > 4).print("filter")
keyed.flat_map(lambda n: range(n % 3), Types.INT()).print("flat_map")
keyed.map(lambda n: n * n, Types.INT()).print("map")
env.execute()
