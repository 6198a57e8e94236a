# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3], Types.INT()).map(lambda n: n * 2, Types.INT())
numbers.print("all")
numbers.filter(lambda n: n > 2).map(lambda n: "big %d" % n, Types.STRING()).print("some")
numbers.key_by(lambda n: 0).reduce(lambda a, b: a + b).print("sums")
env.execute()
