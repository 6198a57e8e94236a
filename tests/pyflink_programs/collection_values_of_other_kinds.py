# compare: exact
import datetime
import decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


def show(label, values, type_info):
    try:
        print(label, list(env.from_collection(values, type_info).execute_and_collect()))
    except Exception:
        print(label, "is refused")


show("int for string", [7], Types.STRING())
show("big decimal", [decimal.Decimal("1.10"), decimal.Decimal("123456789012345678901234567890.5")], Types.BIG_DEC())
show("date", [datetime.date(2026, 2, 28)], Types.SQL_DATE())
show("time", [datetime.time(1, 2, 3)], Types.SQL_TIME())
show("none in row", [Row(None, "a")], Types.ROW([Types.INT(), Types.STRING()]))
show("nested tuple", [(1, (2, "x"))], Types.TUPLE([Types.INT(), Types.TUPLE([Types.INT(), Types.STRING()])]))
show("list for tuple", [[1, [2, "x"]]], Types.TUPLE([Types.INT(), Types.TUPLE([Types.INT(), Types.STRING()])]))
show("tuple for row", [(1, "a")], Types.ROW([Types.INT(), Types.STRING()]))
show("dict for named row", [{"b": 2, "a": 1}], Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.INT()]))
show("dict without a field", [{"a": 1}], Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.INT()]))
show("array of arrays", [[[1, 2], [3]]], Types.OBJECT_ARRAY(Types.BASIC_ARRAY(Types.INT())))
show("empty map", [{}], Types.MAP(Types.STRING(), Types.INT()))
show("empty array", [[]], Types.BASIC_ARRAY(Types.INT()))
show("generator", (n for n in range(3)), Types.INT())
show("string", "abc", Types.STRING())
show("set", {5}, Types.INT())
show("range", range(3), Types.INT())
