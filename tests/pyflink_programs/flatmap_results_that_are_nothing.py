# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import FlatMapFunction


class Maybe(FlatMapFunction):
    def flat_map(self, value):
        if value % 3 == 0:
            return []
        if value % 3 == 1:
            return [value] * value
        return (v for v in ())


class Early(FlatMapFunction):
    def flat_map(self, value):
        for n in range(value):
            if n == 2:
                return
            yield "%d.%d" % (value, n)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection(list(range(6)), Types.INT())
print(list(numbers.flat_map(Maybe(), Types.INT()).execute_and_collect()))
print(list(numbers.flat_map(Early(), Types.STRING()).execute_and_collect()))
print(list(numbers.flat_map(lambda n: "ab"[:n], Types.STRING()).execute_and_collect()))
print(list(numbers.flat_map(lambda n: {n: 1, -n: 2}, Types.INT()).execute_and_collect()))
