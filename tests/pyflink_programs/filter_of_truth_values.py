# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

numbers = env.from_collection([0, 1, 2], Types.INT())
numbers.filter(lambda n: n).print("number")
numbers.filter(lambda n: n > 0).print("bool")
numbers.filter(lambda n: [n] if n == 2 else []).print("list")
numbers.filter(lambda n: None).print("none")
env.execute()
