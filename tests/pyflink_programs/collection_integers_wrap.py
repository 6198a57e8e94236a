# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(1)


def show(label, values, type_info):
    try:
        print(label, list(env.from_collection(values, type_info).execute_and_collect()))
    except Exception:
        print(label, "is refused")


show("byte", [200, -129, 255, 256], Types.BYTE())
show("short", [43878, -40000, 65536], Types.SHORT())
show("int", [2147483648, -2147483649, 4294967297], Types.INT())
show("long", [9223372036854775807, -9223372036854775808], Types.LONG())
show("long of big", [9223372036854775808], Types.LONG())
show("string of int", [5], Types.STRING())
show("int of string", ["5"], Types.INT())
show("row", [Row(70000, 300)], Types.ROW([Types.SHORT(), Types.BYTE()]))
show("tuple", [(70000, 300)], Types.TUPLE([Types.SHORT(), Types.BYTE()]))
show("array", [[70000, 1]], Types.BASIC_ARRAY(Types.SHORT()))
show("primitive array", [[70000, 1]], Types.PRIMITIVE_ARRAY(Types.SHORT()))
show("map", [{70000: 300}], Types.MAP(Types.SHORT(), Types.BYTE()))
