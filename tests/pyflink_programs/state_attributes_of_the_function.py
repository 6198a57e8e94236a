# compare: exact
# Plain attributes live as long as the function: they are shared by all keys of a subtask.
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Count(KeyedProcessFunction):
    def __init__(self):
        self.total = 0
        self.by_key = {}

    def process_element(self, value, ctx):
        self.total += 1
        self.by_key[ctx.get_current_key()] = self.by_key.get(ctx.get_current_key(), 0) + 1
        yield "%s %d of %d" % (value, self.by_key[ctx.get_current_key()], self.total)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection(["a", "b", "a", "c", "a"], Types.STRING()).key_by(lambda v: v).process(Count(), Types.STRING()).print()
env.execute()
