# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
keyed = pairs.key_by(lambda p: p[0], Types.STRING())
keyed.map(lambda p: (p[0] * 2, p[1]), Types.TUPLE([Types.STRING(), Types.INT()])).print("map")
env.execute()
keyed.filter(lambda p: p[1] > 1).print("filter")
env.execute()
keyed.flat_map(lambda p: [p[0]] * p[1], Types.STRING()).print("flat_map")
env.execute()
# keys again by something else
keyed.key_by(lambda p: p[1] % 2).sum(1).print("again")
env.execute()
