# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(2)
numbers = env.from_collection(list(range(10)), Types.INT())
print(list(numbers.execute_and_collect()))
print(numbers.execute_and_collect(limit=4))
untyped = env.from_collection(list("abcdefghij"))
print(list(untyped.execute_and_collect()))
