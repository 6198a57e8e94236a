# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

words = env.from_collection(["a", "bb", "cc", "d"], Types.STRING())
words.key_by(lambda w: len(w), Types.INT()).reduce(lambda a, b: a + "+" + b).print()
env.execute()
