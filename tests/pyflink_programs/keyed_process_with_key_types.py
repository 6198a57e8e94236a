# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Show(KeyedProcessFunction):
    def process_element(self, value, ctx):
        key = ctx.get_current_key()
        yield "%s %s" % (type(key).__name__, key)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2], Types.INT())
numbers.key_by(lambda n: n).process(Show(), Types.STRING()).print()
numbers.key_by(lambda n: str(n), Types.STRING()).process(Show(), Types.STRING()).print()
numbers.key_by(lambda n: (n, "x")).process(Show(), Types.STRING()).print()
numbers.key_by(lambda n: Row(n, "x"), Types.ROW([Types.INT(), Types.STRING()])).process(Show(), Types.STRING()).print()
numbers.key_by(lambda n: n > 1, Types.BOOLEAN()).process(Show(), Types.STRING()).print()
numbers.key_by(lambda n: n / 2, Types.DOUBLE()).process(Show(), Types.STRING()).print()
numbers.key_by(lambda n: frozenset([n])).process(Show(), Types.STRING()).print()
env.execute()
