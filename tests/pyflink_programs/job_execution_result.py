# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1], Types.INT()).print()
result = env.execute("my job")
print(type(result).__name__, len(str(result.get_job_id())), result.get_net_runtime() > 0, result.get_all_accumulator_results())
lines = str(result).split("\n")
print(lines[0])
print(lines[1].replace(str(result.get_job_id()), "ID"))
# nothing is left to run
try:
    env.execute()
    print("ran")
except Exception as error:
    print("No operators defined in streaming topology" in str(error))
