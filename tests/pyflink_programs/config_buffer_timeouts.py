# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(1)
env.set_buffer_timeout(0)
print(env.get_buffer_timeout())
env.set_buffer_timeout(-1)
print(env.get_buffer_timeout())
env.from_collection([1, 2], Types.INT()).map(lambda n: n, Types.INT()).set_buffer_timeout(50).print()
env.execute()
