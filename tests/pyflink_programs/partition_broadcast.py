# compare: sorted
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value):
        return "%s on %d" % (value, self.subtask)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.from_collection(["x", "y"], Types.STRING()).broadcast().map(Subtask(), Types.STRING()).print()
env.execute()
