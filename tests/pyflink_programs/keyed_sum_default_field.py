# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([(1, "odd"), (2, "even"), (3, "odd"), (5, "odd")], Types.TUPLE([Types.INT(), Types.STRING()]))
pairs.key_by(lambda v: v[1]).sum().print("sum")
env.execute()
pairs.key_by(lambda v: v[1]).max().print("max")
env.execute()
pairs.key_by(lambda v: v[1]).min().print("min")
env.execute()
