# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([]).map(lambda n: n).print("untyped")
env.execute()
empty = env.from_collection([], Types.INT())
empty.key_by(lambda n: n).reduce(max).print("typed")
env.execute()
print(list(empty.execute_and_collect()))
