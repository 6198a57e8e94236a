# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(1)
print(list(env.from_collection([0.1, 1.5, 3.14159, 1e-3, 16777217.0], Types.FLOAT()).execute_and_collect()))
print(list(env.from_collection([0.1, 2.7], Types.FLOAT()).map(lambda x: x, Types.FLOAT()).execute_and_collect()))
print(list(env.from_collection([0.1, 2.7], Types.FLOAT()).map(lambda x: repr(x), Types.STRING()).execute_and_collect()))
print(list(env.from_collection([Row(0.1, 0.2)], Types.ROW([Types.FLOAT(), Types.DOUBLE()])).execute_and_collect()))
print(list(env.from_collection([(0.1, "x")], Types.TUPLE([Types.FLOAT(), Types.STRING()])).execute_and_collect()))
print(list(env.from_collection([[0.1, 0.7]], Types.BASIC_ARRAY(Types.FLOAT())).execute_and_collect()))
print(list(env.from_collection([[0.1, 0.7]], Types.PRIMITIVE_ARRAY(Types.FLOAT())).execute_and_collect()))
print(list(env.from_collection([{"a": 0.1}], Types.MAP(Types.STRING(), Types.FLOAT())).execute_and_collect()))
env.from_collection([0.1, 2.7, 1e10, 1e-5, 100.0], Types.FLOAT()).print()
env.execute()
