# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
sales = env.from_collection([("tea", 3), ("ink", 1), ("tea", 5), ("ink", 9)], pair)
totals = sales.key_by(lambda v: v[0], Types.STRING()).sum(1).map(lambda v: ("total " + v[0], v[1]), pair)
largest = sales.key_by(lambda v: v[0], Types.STRING()).max(1).map(lambda v: ("largest " + v[0], v[1]), pair)
totals.union(largest).print()
env.execute()
