# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()

env.set_parallelism(1)


def show(label, values, type_info):
    try:
        for value in env.from_collection(values, type_info).execute_and_collect():
            print(label, type(value).__name__, value)
    except Exception:
        print(label, "is refused")


pair = Types.TUPLE([Types.STRING(), Types.INT()])
row = Types.ROW([Types.STRING(), Types.INT()])
named = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])


class Thing:
    def __init__(self, name, n):
        self.name = name
        self.n = n


show("list for tuple", [["a", 1]], pair)
show("row for tuple", [Row("a", 1)], pair)
show("list for row", [["a", 1]], row)
show("tuple for row", [("a", 1)], row)
show("list for named row", [["a", 1]], named)
show("tuple for named row", [("a", 1)], named)
show("dict for named row", [{"name": "a", "n": 1}], named)
show("dict in another order", [{"n": 1, "name": "a"}], named)
show("dict without a field", [{"name": "a"}], named)
show("dict with one more", [{"name": "a", "n": 1, "x": 2}], named)
show("named row", [Row(n=1, name="a")], named)
show("object with fields", [Thing("a", 1)], named)
show("None in row", [Row(None, None)], row)
show("None in tuple", [(None, 1)], pair)
show("short row", [Row("a")], row)
show("short tuple", [("a",)], pair)
show("nested", [[["a", 1], {"name": "b", "n": 2}]], Types.TUPLE([pair, named]))
show("tuple for array", [(1, 2)], Types.BASIC_ARRAY(Types.INT()))
