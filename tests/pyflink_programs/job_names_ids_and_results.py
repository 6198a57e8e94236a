# compare: exact
from pyflink.common import JobStatus, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, 2], Types.INT()).print()
result = env.execute("my job")
print(len(str(result.get_job_id())), result.get_net_runtime() >= 0)
print(result.get_accumulator_result("nothing"), result.get_all_accumulator_results())
env.from_collection([3], Types.INT()).print()
client = env.execute_async("another")
finished = client.get_job_execution_result().result()
print(str(client.get_job_id()) == str(finished.get_job_id()))
print([status.name for status in JobStatus])
