# compare: exact
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Show(MapFunction):
    def open(self, runtime_context):
        self.limit = runtime_context.get_job_parameter("limit", "none")
        self.absent = runtime_context.get_job_parameter("absent", "default")

    def map(self, value):
        return "%d %s %s" % (value, self.limit, self.absent)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.get_config().set_global_job_parameters({"limit": "5"})
env.from_collection([1], Types.INT()).map(Show(), Types.STRING()).print()
env.execute()
