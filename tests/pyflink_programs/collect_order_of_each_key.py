# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(2)
pairs = env.from_collection([(n % 3, n) for n in range(15)], Types.TUPLE([Types.INT(), Types.INT()]))
sums = list(pairs.key_by(lambda p: p[0], Types.INT()).sum(1).execute_and_collect())
for key in range(3):
    print(key, [value for found, value in sums if found == key])
