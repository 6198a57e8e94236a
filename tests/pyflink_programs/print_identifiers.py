# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, 2], Types.INT()).print("numbers")
env.execute()
env.from_collection([("t1", 1, False, 1.5)], Types.TUPLE([Types.STRING(), Types.INT(), Types.BOOLEAN(), Types.DOUBLE()])).print("tuple")
env.execute()
env.from_collection([Row("r1", 1, False, None)], Types.ROW([Types.STRING(), Types.INT(), Types.BOOLEAN(), Types.INT()])).print("row")
env.execute()
env.from_collection([2]).map(lambda n: [1, n], Types.LIST(Types.INT())).print("list")
env.execute()
env.from_collection([{"k": 1}], Types.MAP(Types.STRING(), Types.INT())).print("map")
env.execute()
env.from_collection([(1, [2, "x"], {"y": None}, True)]).print("pickled")
env.execute()
env.from_collection([True, 1.0, None, "text"]).map(lambda v: v).print("mapped")
env.execute()
