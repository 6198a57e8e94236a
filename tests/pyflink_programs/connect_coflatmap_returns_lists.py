# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, StreamExecutionEnvironment


class Both(CoFlatMapFunction):
    def flat_map1(self, value):
        return [value] * value

    def flat_map2(self, value):
        for letter in value:
            yield len(value)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([0, 1, 2], Types.INT())
words = env.from_collection(["ab", "", "c"], Types.STRING())
numbers.connect(words).flat_map(Both(), Types.INT()).print()
env.execute()
