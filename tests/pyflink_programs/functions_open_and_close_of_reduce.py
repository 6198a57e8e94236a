# compare: sorted
from pyflink.common import Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment


class Add(ReduceFunction):
    def open(self, runtime_context):
        self.more = 100
        print("opened", runtime_context.get_task_name() != "", flush=True)

    def reduce(self, a, b):
        return a + b + self.more

    def close(self):
        print("closed", flush=True)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4], Types.INT())
numbers.key_by(lambda n: n % 2, Types.INT()).reduce(Add()).print()
env.execute()
