# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])
pairs = env.from_collection([Row("a", 1), Row("b", None), Row(None, 3), Row(None, None)], pair)
pairs.print()
env.execute()
swapped = pairs.map(lambda v: Row(v[1], v[0]), Types.ROW([Types.INT(), Types.STRING()]))
for value in swapped.execute_and_collect():
    print(value, value[0] is None, value[1] is None)
