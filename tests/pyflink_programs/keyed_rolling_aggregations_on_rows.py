# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [Row("a", 3, 1.5), Row("b", 5, 0.5), Row("a", 1, 2.5), Row("b", 9, 0.25), Row("a", 7, 1.5)]
type_info = Types.ROW_NAMED(["key", "n", "weight"], [Types.STRING(), Types.INT(), Types.DOUBLE()])
for name, field in [("sum", "n"), ("min", "weight"), ("max", "n"), ("min_by", "weight"), ("max_by", "n"), ("sum", 2)]:
    keyed = env.from_collection(data, type_info).key_by(lambda r: r.key, Types.STRING())
    getattr(keyed, name)(field).print("%s %s" % (name, field))
    env.execute()
