# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import AggregateFunction, ReduceFunction
from pyflink.datastream.state import AggregatingStateDescriptor, ReducingStateDescriptor


class Longest(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 if len(value1) >= len(value2) else value2


class Letters(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + len(value)

    def get_result(self, accumulator):
        return "%d letters" % accumulator

    def merge(self, a, b):
        return a + b


class Words(KeyedProcessFunction):
    def open(self, runtime_context):
        self.longest = runtime_context.get_reducing_state(ReducingStateDescriptor("longest", Longest(), Types.STRING()))
        self.letters = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("letters", Letters(), Types.INT()))

    def process_element(self, value, ctx):
        self.longest.add(value)
        self.letters.add(value)
        yield "%s %s %s" % (ctx.get_current_key(), self.longest.get(), self.letters.get())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["ape", "bee", "antelope", "bear", "ant"], Types.STRING())
words.key_by(lambda w: w[0], Types.STRING()).process(Words(), Types.STRING()).print()
env.execute()
