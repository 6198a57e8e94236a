# compare: exact
from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment, WindowFunction


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %s" % (key, [e[1] for e in elements])


class SumUp(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, sum(i[1] for i in inputs))]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
stream = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5), ("a", 6), ("a", 7)], pair)
keyed = stream.key_by(lambda v: v[0], Types.STRING())
keyed.count_window(2).process(Show(), Types.STRING()).print("two")
env.execute()
keyed.count_window(2).apply(SumUp(), pair).print("sum")
env.execute()
keyed.count_window(3, 1).process(Show(), Types.STRING()).print("slide")
env.execute()
keyed.count_window(2).reduce(lambda a, b: (a[0], a[1] * b[1])).print("reduce")
env.execute()
