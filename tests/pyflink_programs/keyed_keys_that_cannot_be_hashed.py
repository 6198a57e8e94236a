# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(1)
numbers = env.from_collection(list(range(6)), Types.INT())


def show(label, key, key_type=None):
    try:
        stream = numbers.map(lambda n: (n % 3, n), Types.TUPLE([Types.INT(), Types.INT()]))
        print(label, list(stream.key_by(key, key_type).sum(1).execute_and_collect()))
    except Exception:
        print(label, "is refused")


show("list", lambda p: [p[0], "x"])
show("dict", lambda p: {"k": p[0]})
show("set", lambda p: {p[0], 7})
show("bytearray", lambda p: bytearray([p[0]]))
show("bytes", lambda p: bytes([p[0]]))
show("tuple of lists", lambda p: (p[0], [p[0]]))
show("row with list", lambda p: Row(p[0], [1, 2]))
show("typed list", lambda p: [p[0], 1], Types.LIST(Types.INT()))
show("typed map", lambda p: {"k": p[0]}, Types.MAP(Types.STRING(), Types.INT()))
show("None", lambda p: None)
show("float", lambda p: p[0] / 2)
