# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
a = env.from_collection([1, 2, 3], Types.INT())
b = env.from_collection([10, 20], Types.INT())
c = env.from_collection([100], Types.INT())
a.union(b, c).map(lambda n: n + 1, Types.INT()).print()
env.execute()
# a union with itself doubles every record
a.union(a).print("twice")
env.execute()
a.union(b).key_by(lambda n: 0).reduce(lambda x, y: x + y).filter(lambda n: n == 36).print("keyed")
env.execute()
