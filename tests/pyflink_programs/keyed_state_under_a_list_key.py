# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        key = ctx.get_current_key()
        yield "%s %s %d" % (isinstance(key, (list, set, dict)), sorted(key), self.count.value())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["ab", "ba", "ab", "c", "ba"], Types.STRING())
words.key_by(lambda w: list(w)).process(Count(), Types.STRING()).print("list")
words.key_by(lambda w: set(w)).process(Count(), Types.STRING()).print("set")
words.key_by(lambda w: {c: 1 for c in sorted(w)}).process(Count(), Types.STRING()).print("dict")
env.execute()
