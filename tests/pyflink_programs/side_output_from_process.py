# compare: sorted
from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

odd = OutputTag("odd", Types.INT())
big = OutputTag("big", Types.STRING())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield odd, value
        else:
            yield value
        if value > 3:
            yield big, "big %d" % value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
main = env.from_collection([1, 2, 3, 4, 5], Types.INT()).process(Split(), Types.INT())
main.print("even")
main.get_side_output(odd).map(lambda n: n * 100, Types.INT()).print("odd")
main.get_side_output(big).print("big")
env.execute()
