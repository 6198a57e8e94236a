# compare: exact
from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
env.set_parallelism(2)
pairs = env.from_collection([("a", 3), ("b", 4), ("a", 1), ("b", 9)], Types.TUPLE([Types.STRING(), Types.INT()]))
keyed = pairs.key_by(lambda p: p[0], Types.STRING())
print(sorted(keyed.min(1).execute_and_collect()), sorted(keyed.max_by(1).execute_and_collect()))
print(sorted(pairs.map(lambda p: p[1], Types.INT()).execute_and_collect()))
