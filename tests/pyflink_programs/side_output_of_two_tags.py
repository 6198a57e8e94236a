# compare: sorted
from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

even = OutputTag("even", Types.INT())
text = OutputTag("text", Types.STRING())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        if value % 2 == 0:
            yield even, value
        yield text, "n%d" % value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
result = env.from_collection([1, 2, 3], Types.INT()).process(Split(), Types.INT())
result.print("main")
result.get_side_output(even).map(lambda n: n * 10, Types.INT()).print("even")
result.get_side_output(text).print("text")
env.execute()
