# compare: exact
from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
data = env.from_collection([("d", 1), ("a", 2), ("c", 3), ("a", 5), ("d", 4), ("d", 2)], pair)
data.key_by(lambda v: v[0], Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1])).print("reduce")
env.execute()
data.key_by(lambda v: v[0], Types.STRING()).max(1).print("max")
env.execute()
data.map(lambda v: v[1] * 2, Types.INT()).filter(lambda n: n > 4).print("map")
env.execute()
