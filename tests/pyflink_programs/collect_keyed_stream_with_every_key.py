# compare: exact
from pyflink.common import Types, Row
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
T = Types.TUPLE([Types.STRING(), Types.INT()])
s = lambda: env.from_collection([("a", 1), ("b", 2), ("a", 3)], T)
print(list(s().key_by(lambda v: v[0], Types.STRING()).execute_and_collect()))
print(s().key_by(lambda v: v[0], Types.STRING()).execute_and_collect(limit=2))
print(list(s().key_by(lambda v: v[1] % 2 == 0, Types.BOOLEAN()).execute_and_collect()))
print(list(s().key_by(lambda v: v, T).execute_and_collect()))
print(list(s().key_by(lambda v: Row(v[0], v[1]), Types.ROW([Types.STRING(), Types.INT()])).execute_and_collect()))
print(list(s().key_by(lambda v: v[0], Types.STRING()).sum(1).execute_and_collect()))
print(list(s().key_by(lambda v: v[0], Types.STRING()).map(lambda v: v[1], Types.INT()).execute_and_collect()))
s().key_by(lambda v: v[0], Types.STRING()).print()
env.execute()
print(s().key_by(lambda v: v[0], Types.STRING()).get_type())
