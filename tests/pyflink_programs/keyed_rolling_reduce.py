# compare: exact
from pyflink.common import Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment


class Longest(ReduceFunction):
    def reduce(self, left, right):
        return left if len(left[1]) >= len(right[1]) else right


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
counts = env.from_collection([("d", 1), ("a", 2), ("d", 3), ("c", 4), ("a", 5), ("d", 6)], pair)
counts.key_by(lambda v: v[0]).reduce(lambda x, y: (x[0], x[1] + y[1])).print()
env.execute()
words = env.from_collection(["bee", "ant", "badger", "ape", "antelope", "bat"], Types.STRING())
words.map(lambda w: (w[0], w), Types.TUPLE([Types.STRING(), Types.STRING()])).key_by(
    lambda v: v[0], key_type=Types.STRING()
).reduce(Longest()).print("longest")
env.execute()
