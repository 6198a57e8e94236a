# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(3)
numbers = env.from_collection(list(range(12)), Types.INT())
mapped = numbers.map(lambda n: n + 1, Types.INT()).set_parallelism(1)
print(list(mapped.execute_and_collect()))
kept = mapped.filter(lambda n: n % 2 == 0).set_parallelism(1)
print(kept.execute_and_collect(limit=3))
