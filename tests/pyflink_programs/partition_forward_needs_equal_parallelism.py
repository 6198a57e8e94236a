# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
mapped = env.from_collection([1], Types.INT()).map(lambda n: n, Types.INT())
mapped.forward().map(lambda n: n, Types.INT()).set_parallelism(3).print()
try:
    env.execute()
    print("it ran")
except Exception as error:
    print("refused")
