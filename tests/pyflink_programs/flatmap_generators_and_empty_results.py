# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def split(line):
    for token in line.lower().split():
        if token.isalpha():
            yield token


def none_or_many(word):
    if len(word) > 3:
        return [word, word.upper()]
    return []


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
lines = env.from_collection(["To be or not to be", "", "that is 1 Question"], Types.STRING())
lines.flat_map(split, Types.STRING()).flat_map(none_or_many, Types.STRING()).print()
env.execute()
