# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment


class Values(MapFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def map(self, value):
        c = self.context
        name, full = c.get_task_name(), c.get_task_name_with_subtasks()
        return "%d of %d attempt %d, %s, %s" % (
            c.get_index_of_this_subtask(), c.get_number_of_parallel_subtasks(), c.get_attempt_number(),
            "Doubler" in name, full == name + " (1/1)#0",
        )


class KeyedValues(KeyedProcessFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def process_element(self, value, ctx):
        c = self.context
        yield "%d of %d max %d, %s" % (
            c.get_index_of_this_subtask(), c.get_number_of_parallel_subtasks(), c.get_max_number_of_parallel_subtasks(),
            c.get_job_parameter("who", "nobody"),
        )


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([7], Types.INT())
numbers.map(Values(), Types.STRING()).name("Doubler").print()
env.execute()
numbers.key_by(lambda n: n).process(KeyedValues(), Types.STRING()).print()
env.execute()
numbers.key_by(lambda n: n).process(KeyedValues(), Types.STRING()).set_max_parallelism(40).print()
env.execute()
env.get_config().set_global_job_parameters({"who": "me"})
numbers.key_by(lambda n: n).process(KeyedValues(), Types.STRING()).print()
env.execute()
