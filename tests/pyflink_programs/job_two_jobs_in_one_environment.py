# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
base = env.from_collection([1, 2], Types.INT())
base.map(lambda n: n, Types.INT()).print("first")
env.execute("first")
base.map(lambda n: -n, Types.INT()).print("second")
env.execute("second")
print(list(base.execute_and_collect()))
