# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoProcessFunction, OutputTag, StreamExecutionEnvironment

small = OutputTag("small", Types.STRING())


class Both(CoProcessFunction):
    def process_element1(self, value, ctx):
        if value < 10:
            yield small, "small %d" % value
        else:
            yield "left %d" % value

    def process_element2(self, value, ctx):
        yield "right %s" % value
        if len(value) < 2:
            yield small, "short %s" % value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
left = env.from_collection([5, 50, 500], Types.INT())
right = env.from_collection(["a", "bcd"], Types.STRING())
main = left.connect(right).process(Both(), Types.STRING())
main.print("main")
main.get_side_output(small).print("side")
env.execute()
