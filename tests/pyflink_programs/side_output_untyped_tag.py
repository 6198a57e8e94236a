# compare: sorted
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

errors = OutputTag("errors")


class Check(ProcessFunction):
    def process_element(self, value, ctx):
        if isinstance(value, str):
            yield errors, {"bad": value}
        else:
            yield value + 1


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
checked = env.from_collection([1, "x", 2]).process(Check())
checked.print("good")
checked.get_side_output(errors).map(lambda e: e["bad"]).print("bad")
env.execute()
