# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import FilterFunction, FlatMapFunction, MapFunction, ProcessFunction


def told(context):
    return "%s/%s" % (context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks())


class M(MapFunction):
    def open(self, context):
        self.said = told(context)
        self.name = context.get_task_name_with_subtasks()
        self.attempt = context.get_attempt_number()

    def map(self, value):
        return "%s map %s %s %s" % (value, self.said, "(1/1)" in self.name, self.attempt)


class F(FilterFunction):
    def open(self, context):
        self.said = told(context)

    def filter(self, value):
        return self.said == "0/1"


class X(FlatMapFunction):
    def open(self, context):
        self.said = told(context)

    def flat_map(self, value):
        yield "%s flat %s" % (value, self.said)


class P(ProcessFunction):
    def open(self, context):
        self.said = told(context)

    def process_element(self, value, ctx):
        yield "%s process %s %s" % (value, self.said, ctx.timestamp())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection(["a", "b"], Types.STRING()).map(M(), Types.STRING()).filter(F()).flat_map(X(), Types.STRING()).process(
    P(), Types.STRING()
).print()
env.execute()
