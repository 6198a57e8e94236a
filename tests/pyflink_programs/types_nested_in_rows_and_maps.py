# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

inner = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
outer = Types.ROW_NAMED(["inner", "tags", "counts"], [inner, Types.BASIC_ARRAY(Types.STRING()), Types.MAP(Types.STRING(), Types.INT())])
rows = env.from_collection([1, 2], Types.INT()).map(lambda n: Row(inner=Row(x=n, y=str(n)), tags=["t%d" % n], counts={"k": n}), outer)
rows.map(lambda r: "%s %s %s %s" % (r.inner.x, r.inner.y, r.tags, r.counts), Types.STRING()).print()
env.execute()
