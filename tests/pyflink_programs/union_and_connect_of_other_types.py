# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoProcessFunction, StreamExecutionEnvironment


class Flat(CoFlatMapFunction):
    def flat_map1(self, value):
        for n in range(value):
            yield "number %d" % n

    def flat_map2(self, value):
        if value:
            yield "word " + value


class Process(CoProcessFunction):
    def open(self, runtime_context):
        self.seen = 0

    def process_element1(self, value, ctx):
        self.seen += 1
        yield "first %s" % value

    def process_element2(self, value, ctx):
        yield "second %s" % value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([2, 0], Types.INT())
words = env.from_collection(["a", ""], Types.STRING())
numbers.connect(words).flat_map(Flat(), Types.STRING()).print()
numbers.connect(words).process(Process(), Types.STRING()).print()
numbers.union(numbers, numbers.map(lambda n: n + 100, Types.INT())).map(lambda n: "union %d" % n, Types.STRING()).print()
env.execute()
