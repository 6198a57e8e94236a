# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import MapFunction, ProcessFunction
from pyflink.datastream.output_tag import OutputTag

bad = OutputTag("bad", Types.STRING())


class Parse(ProcessFunction):
    def process_element(self, value, ctx):
        try:
            yield int(value)
        except ValueError as error:
            yield bad, "%s: %s" % (type(error).__name__, value)


class Count(MapFunction):
    def __init__(self):
        self.calls = 0

    def map(self, value):
        self.calls += 1
        try:
            return 100 // (value - 2) + self.calls
        except ZeroDivisionError:
            return -self.calls


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
parsed = env.from_collection(["1", "two", "3", "", "2"], Types.STRING()).process(Parse(), Types.INT())
parsed.map(Count(), Types.INT()).print("good")
parsed.get_side_output(bad).print("bad")
env.execute()
