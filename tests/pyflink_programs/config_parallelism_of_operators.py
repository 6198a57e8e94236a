# compare: exact
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Show(MapFunction):
    def open(self, runtime_context):
        self.of = runtime_context.get_number_of_parallel_subtasks()
        self.most = runtime_context.get_max_number_of_parallel_subtasks()

    def map(self, value):
        return "%d of %d" % (self.of, self.most)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.set_max_parallelism(16)
one = env.from_collection([1], Types.INT())
print(list(one.map(Show(), Types.STRING()).execute_and_collect()))
print(list(one.map(Show(), Types.STRING()).set_parallelism(3).set_max_parallelism(8).execute_and_collect()))
print(list(one.map(Show(), Types.STRING()).force_non_parallel().execute_and_collect()))
