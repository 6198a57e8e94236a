# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


def show(label, values, type_info):
    print(label, list(env.from_collection(values, type_info).execute_and_collect()))


F = Types.FLOAT()
show("plain", [0.1, 1e-45, 3.4028235e38, -0.0, 16777217.0, 1e10, 123456.789], F)
show("tuple", [(0.1, 0.2)], Types.TUPLE([F, Types.DOUBLE()]))
show("row", [Row(0.1, Row(0.3))], Types.ROW([F, Types.ROW([F])]))
show("named", [Row(a=0.1, b=0.7)], Types.ROW_NAMED(["a", "b"], [F, F]))
show("map", [{"x": 0.1}], Types.MAP(Types.STRING(), F))
show("basic array", [[0.1, 0.6]], Types.BASIC_ARRAY(F))
show("primitive array", [[0.1, 0.6]], Types.PRIMITIVE_ARRAY(F))
typed = env.from_collection([1, 2], Types.INT()).map(lambda n: n / 10, F)
print("after a map", list(typed.execute_and_collect()))
print("keyed", list(typed.key_by(lambda f: 1, Types.INT()).map(lambda f: f, F).execute_and_collect()))
typed.print()
typed.map(lambda f: (f, f * 2), Types.TUPLE([F, Types.DOUBLE()])).print()
env.execute()
