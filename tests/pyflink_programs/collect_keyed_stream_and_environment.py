# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
keyed = pairs.key_by(lambda p: p[0], Types.STRING())
print(type(keyed).__name__, type(pairs).__name__, type(keyed.sum(1)).__name__, type(keyed.union(pairs)).__name__)
print(pairs.get_execution_environment() is not None, pairs.get_execution_config().get_parallelism())
print(sorted(keyed.union(pairs).execute_and_collect()))
