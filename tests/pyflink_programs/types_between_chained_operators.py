# compare: exact
# Operators of one task hand objects on as they are: the declared type is not applied between them.
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
cases = [
    ("float", 0.1, Types.FLOAT()),
    ("list for tuple", [1, "x"], Types.TUPLE([Types.INT(), Types.STRING()])),
    ("int for double", 3, Types.DOUBLE()),
    ("positional row", Row(1, 2), Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.INT()])),
]
for label, value, type_info in cases:
    stream = env.from_collection([label], Types.STRING()).map(lambda _, value=value: value, type_info)
    for line in stream.map(lambda v: "%s %r" % (type(v).__name__, v), Types.STRING()).execute_and_collect():
        print(label, line)
