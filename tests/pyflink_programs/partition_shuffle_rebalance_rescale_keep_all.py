# compare: sorted-noprefix
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
for name in ["shuffle", "rebalance", "rescale"]:
    numbers = env.from_collection(list(range(8)), Types.INT()).map(lambda n: n + 1, Types.INT())
    getattr(numbers, name)().map(lambda n: n * 10, Types.INT()).print(name)
    env.execute()
