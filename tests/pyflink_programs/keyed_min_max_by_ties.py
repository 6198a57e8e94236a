# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

rows = env.from_collection([("a", 3, "x"), ("a", 1, "y"), ("a", 1, "z"), ("a", 5, "w"), ("b", 2, "v")],
                           Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()]))
keyed = rows.key_by(lambda r: r[0], Types.STRING())
keyed.min(1).print("min")
keyed.max(1).print("max")
keyed.min_by(1).print("min_by")
keyed.max_by(1).print("max_by")
keyed.sum(1).print("sum")
env.execute()
