# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import CoMapFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessWindowFunction


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "window %s %s" % (key, [e[1] for e in elements])


class Both(CoMapFunction):
    def map1(self, value):
        return "left %s" % (value,)

    def map2(self, value):
        return "right %s" % (value,)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection([("ab", 1), ("ba", 2), ("ab", 3), ("ba", 4)], Types.TUPLE([Types.STRING(), Types.INT()]))
words.key_by(lambda w: list(w[0])).count_window(2).process(Show(), Types.STRING()).print()
words.key_by(lambda w: {"letter": w[0][0]}).reduce(lambda a, b: (a[0], a[1] + b[1])).map(
    lambda r: "dict %s" % (r,), Types.STRING()).print()
words.key_by(lambda w: bytearray(w[0], "ascii")).sum(1).map(lambda r: "bytes %s" % (r,), Types.STRING()).print()
words.key_by(lambda w: (w[0], [len(w[0])])).max(1).map(lambda r: "tuple %s" % (r,), Types.STRING()).print()
words.key_by(lambda w: Row(w[0], [1])).sum(1).map(lambda r: "row %s" % (r,), Types.STRING()).print()
left = words.key_by(lambda w: [w[0]])
right = words.key_by(lambda w: [w[0]])
left.connect(right).map(Both(), Types.STRING()).print()
env.execute()
