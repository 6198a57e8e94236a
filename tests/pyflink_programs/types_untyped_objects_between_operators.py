# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)


points = env.from_collection([1, 2, 1], Types.INT()).map(lambda n: Point(n))
points.map(lambda p: p.x * 10, Types.INT()).print()
points.map(lambda p: {"x": p.x, "l": [p.x]}).map(lambda d: str(d), Types.STRING()).print()
env.execute()
