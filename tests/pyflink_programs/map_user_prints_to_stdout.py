# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def noisy(n):
    print("mapping", n)
    return n + 1


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, 2, 3], Types.INT()).map(noisy, Types.INT()).print()
env.execute()
