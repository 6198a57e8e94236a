# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
point = Types.ROW_NAMED(["x", "y"], [Types.DOUBLE(), Types.DOUBLE()])
shape = Types.ROW_NAMED(["name", "at", "tags"], [Types.STRING(), point, Types.LIST(Types.STRING())])
shapes = env.from_collection(
    [Row("dot", Row(1.0, 2.0), ["small"]), Row("box", Row(0.0, 5.5), [])], shape
)
shapes.print()
shapes.map(lambda s: s.at.x + s.at.y, Types.DOUBLE()).print()
env.execute()
