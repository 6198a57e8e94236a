# compare: exact
# key_by after key_by: counts per word, then the most frequent one so far per first letter.
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
triple = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])
words = env.from_collection("bee ant bat bat ape ant bee bee apple ape ape".split(), Types.STRING())
counts = (
    words.map(lambda w: (w[0], w, 1), triple)
    .key_by(lambda v: v[1], Types.STRING())
    .reduce(lambda a, b: (a[0], a[1], a[2] + b[2]))
)
counts.key_by(lambda v: v[0], Types.STRING()).max_by(2).print()
env.execute()
