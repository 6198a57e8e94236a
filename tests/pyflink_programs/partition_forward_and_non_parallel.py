# compare: sorted
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.text = "%d of %d" % (
            runtime_context.get_index_of_this_subtask(), runtime_context.get_number_of_parallel_subtasks()
        )

    def map(self, value):
        return "%s on %s" % (value, self.text)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
words = env.from_collection(["x", "y", "z"], Types.STRING())
words.forward().map(Subtask(), Types.STRING()).set_parallelism(1).print("forward").set_parallelism(1)
env.execute()
words.map(Subtask(), Types.STRING()).force_non_parallel().print("single").set_parallelism(1)
env.execute()
# forward between operators of different parallelism is refused when the job is built
try:
    words.forward().map(lambda w: w, Types.STRING()).print("forward")
    env.execute()
    print("accepted")
except Exception as error:
    print("refused", "Forward partitioning does not allow change of parallelism" in str(error))
