# compare: sorted-noprefix
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.from_collection(list(range(6)), Types.INT()).map(lambda n: n * 10, Types.INT()).print()
env.execute()
env.from_collection(["a", "b", "c"], Types.STRING()).print("letters")
env.execute()
