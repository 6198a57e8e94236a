# compare: exact
from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

rejected = OutputTag("rejected", Types.STRING())


class Parse(ProcessFunction):
    def process_element(self, value, ctx):
        try:
            yield int(value)
        except ValueError:
            yield rejected, value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
parsed = env.from_collection(["1", "x", "2", "", "3.5"], Types.STRING()).process(Parse(), Types.INT())
for text in parsed.get_side_output(rejected).execute_and_collect():
    print(repr(text))
