# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

one = env.from_collection([3], Types.INT())
one.map(lambda n: [n, n + 1], Types.BASIC_ARRAY(Types.INT())).map(lambda v: "%s %s" % (type(v).__name__, v), Types.STRING()).print()
one.map(lambda n: [n, n + 1], Types.PRIMITIVE_ARRAY(Types.LONG())).map(lambda v: str(list(v)), Types.STRING()).print()
one.map(lambda n: [("a", n)], Types.LIST(Types.TUPLE([Types.STRING(), Types.INT()]))).map(lambda v: str(v), Types.STRING()).print()
one.map(lambda n: b"ab", Types.PRIMITIVE_ARRAY(Types.BYTE())).map(lambda v: str(bytes(v)), Types.STRING()).print()
one.map(lambda n: [[n], []], Types.OBJECT_ARRAY(Types.BASIC_ARRAY(Types.INT()))).map(lambda v: str(v), Types.STRING()).print()
env.execute()
