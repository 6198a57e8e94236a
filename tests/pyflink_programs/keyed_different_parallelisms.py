# compare: sorted-noprefix
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
pair = Types.TUPLE([Types.INT(), Types.INT()])
numbers = env.from_collection(list(range(1, 13)), Types.INT()).map(lambda n: (n % 3, n), pair).set_parallelism(3)
sums = numbers.key_by(lambda v: v[0], Types.INT()).reduce(lambda a, b: (a[0], a[1] + b[1])).set_parallelism(2)
last = sums.key_by(lambda v: v[0], Types.INT()).max(1).set_parallelism(1)
last.filter(lambda v: v in [(0, 30), (1, 22), (2, 26)]).print()
env.execute()
