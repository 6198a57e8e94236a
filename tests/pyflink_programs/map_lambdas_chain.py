# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
(
    env.from_collection(range(1, 11), type_info=Types.INT())
    .map(lambda n: n * n)
    .filter(lambda n: n % 2 == 0)
    .flat_map(lambda n: [n, -n])
    .map(lambda n: "n=%d" % n, output_type=Types.STRING())
    .print()
)
env.execute()
