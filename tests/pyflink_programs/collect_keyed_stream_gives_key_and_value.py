# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
for record in pairs.key_by(lambda p: p[0], Types.STRING()).execute_and_collect():
    print(type(record).__name__, record)
print(pairs.key_by(lambda p: p[1], Types.INT()).execute_and_collect(limit=2))
named = env.from_collection([Row("a", 1)], Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]))
for record in named.key_by(lambda r: r.k, Types.STRING()).execute_and_collect():
    print(record, record[1].v)
