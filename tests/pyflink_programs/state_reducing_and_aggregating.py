# compare: exact
from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, ReduceFunction, StreamExecutionEnvironment
from pyflink.datastream.state import AggregatingStateDescriptor, ReducingStateDescriptor


class Add(ReduceFunction):
    def reduce(self, a, b):
        return a + b


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Statistics(KeyedProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", Add(), Types.INT()))
        self.average = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("average", Average(), Types.TUPLE([Types.INT(), Types.INT()]))
        )

    def process_element(self, value, ctx):
        before = self.total.get()
        if value[1] == 0:
            self.total.clear()
            self.average.clear()
        else:
            self.total.add(value[1])
            self.average.add(value[1])
        average = self.average.get() if value[1] else None
        yield "%s before=%s total=%s average=%s" % (value[0], before, self.total.get(), average)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1), ("b", 10), ("a", 2), ("a", 6), ("a", 0), ("a", 5), ("b", 20)]
stream = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.INT()]))
stream.key_by(lambda v: v[0]).process(Statistics(), Types.STRING()).print()
env.execute()
