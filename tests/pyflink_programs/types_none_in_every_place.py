# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

row = Types.ROW([Types.STRING(), Types.INT(), Types.DOUBLE(), Types.BOOLEAN(), Types.BASIC_ARRAY(Types.INT()), Types.MAP(Types.STRING(), Types.INT())])
nothing = env.from_collection([0], Types.INT()).map(lambda n: Row(None, None, None, None, None, None), row)
nothing.map(lambda r: repr(list(r)), Types.STRING()).print()
pair = Types.TUPLE([Types.STRING(), Types.INT()])
env.from_collection([0], Types.INT()).map(lambda n: (None, None), pair).map(lambda p: repr(p), Types.STRING()).print()
env.execute()
