# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield "%s %s %d" % (value, ctx.get_current_key(), self.count.value())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["a", "", "b", "a", ""], Types.STRING())
words.key_by(lambda w: w or None).process(Count(), Types.STRING()).print()
env.execute()
words.key_by(lambda w: (w, None)).process(Count(), Types.STRING()).print()
env.execute()
