# compare: sorted-noprefix
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

LINES = ["the cat and the dog", "a dog and a bird", "the end"]


def word_count():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    (
        env.from_collection(LINES, Types.STRING())
        .flat_map(lambda line: line.split(), Types.STRING())
        .map(lambda word: (word, 1), pair)
        .key_by(lambda v: v[0], Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .print()
    )
    env.execute("word count")


if __name__ == "__main__":
    word_count()
