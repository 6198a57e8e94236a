# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1], Types.INT()).print()
first = env.execute("first")
env.from_collection([2], Types.INT()).print()
second = env.execute("second")
print(first.get_job_id() != second.get_job_id(), first.get_net_runtime() >= 0)
try:
    env.execute("empty")
    print("runs")
except Exception:
    print("is refused")
