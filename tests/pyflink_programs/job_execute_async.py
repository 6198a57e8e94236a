# compare: exact
from pyflink.common import Types
from pyflink.common.job_status import JobStatus
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, 2, 3], Types.INT()).map(lambda n: n + 1, Types.INT()).print()
client = env.execute_async("asynchronous")
print(len(str(client.get_job_id())))
result = client.get_job_execution_result().result()
print(result.get_job_id() is not None, str(result.get_job_id()) == str(client.get_job_id()), result.get_net_runtime() >= 0)
print(JobStatus.FINISHED.is_terminal_state(), JobStatus.RUNNING.is_terminal_state(), JobStatus.SUSPENDED.is_globally_terminal_state())
