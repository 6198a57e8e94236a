# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, StreamExecutionEnvironment


class Expand(CoFlatMapFunction):
    def flat_map1(self, value):
        for i in range(value):
            yield "n%d.%d" % (value, i)

    def flat_map2(self, value):
        if value.startswith("-"):
            return None
        return [value, value.upper()]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([0, 1, 2], Types.INT())
words = env.from_collection(["x", "-no", "y"], Types.STRING())
numbers.connect(words).flat_map(Expand(), Types.STRING()).print()
env.execute()
