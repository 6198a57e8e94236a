# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 3, "x"), ("b", 5, "y"), ("a", 1, "z"), ("a", 1, "w"), ("b", 9, "v"), ("a", 7, "u")]
type_info = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
for name in ["sum", "min", "max", "min_by", "max_by"]:
    keyed = env.from_collection(data, type_info).key_by(lambda v: v[0], Types.STRING())
    getattr(keyed, name)(1).print(name)
    env.execute(name)
