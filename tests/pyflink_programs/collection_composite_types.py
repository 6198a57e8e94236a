# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
cases = [
    ("tuple", [("a", 1), ("b", 2)], pair),
    ("nested tuple", [("a", ("b", 2))], Types.TUPLE([Types.STRING(), pair])),
    ("row", [Row("a", 1)], Types.ROW([Types.STRING(), Types.INT()])),
    ("row named", [Row("a", 1)], Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])),
    ("map", [{"k": 1}, {}], Types.MAP(Types.STRING(), Types.INT())),
    ("primitive array", [[1, 2, 3]], Types.PRIMITIVE_ARRAY(Types.INT())),
    ("basic array", [["x", "y"]], Types.BASIC_ARRAY(Types.STRING())),
]
for label, values, type_info in cases:
    with env.from_collection(values, type_info).execute_and_collect() as results:
        for value in results:
            print(label, type(value).__name__, repr(value))
