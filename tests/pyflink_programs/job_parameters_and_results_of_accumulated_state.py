# compare: exact
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import MapFunction


class Greet(MapFunction):
    def open(self, context):
        self.greeting = context.get_job_parameter("greeting", "hello")
        self.missing = context.get_job_parameter("missing", "none")

    def map(self, value):
        return "%s %s %s" % (self.greeting, value, self.missing)


configuration = Configuration()
configuration.set_string("pipeline.global-job-parameters", "greeting:ahoy,other:1")
configuration.set_integer("parallelism.default", 1)
env = StreamExecutionEnvironment.get_execution_environment(configuration)
print(env.get_parallelism())
env.from_collection(["you", "there"], Types.STRING()).map(Greet(), Types.STRING()).print()
result = env.execute("greeting")
print(result.get_net_runtime() >= 0, result.is_job_execution_result() if hasattr(result, "is_job_execution_result") else True)
