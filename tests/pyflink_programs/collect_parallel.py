# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
squares = env.from_collection(list(range(20)), Types.INT()).map(lambda n: n * n, Types.INT())
print(sorted(squares.execute_and_collect()))
print(len(squares.execute_and_collect(limit=5)))
