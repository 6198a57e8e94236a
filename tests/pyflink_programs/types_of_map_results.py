# compare: exact
# The second map starts a new task (start_new_chain), so the declared type is applied between the two.
import datetime
import decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
cases = [
    ("list", [1, 2], Types.LIST(Types.INT())),
    ("list of tuples", [("a", 1), ("b", 2)], Types.LIST(pair)),
    ("map", {"k": 1}, Types.MAP(Types.STRING(), Types.INT())),
    ("bytes", b"\x00\xff", Types.PRIMITIVE_ARRAY(Types.BYTE())),
    ("ints", [1, 2], Types.PRIMITIVE_ARRAY(Types.INT())),
    ("strings", ["x", "y"], Types.BASIC_ARRAY(Types.STRING())),
    ("row", Row("a", 1), Types.ROW([Types.STRING(), Types.INT()])),
    ("date", datetime.date(2024, 2, 29), Types.SQL_DATE()),
    ("decimal", decimal.Decimal("12.50"), Types.BIG_DEC()),
    ("int for double", 3, Types.DOUBLE()),
    ("float", 0.1, Types.FLOAT()),
    ("double for int", 7.9, Types.INT()),
]
for label, value, type_info in cases:
    stream = env.from_collection([label], Types.STRING())
    mapped = stream.map(lambda _, value=value: value, type_info).disable_chaining()
    shown = mapped.map(lambda v: "%s %r" % (type(v).__name__, v), Types.STRING()).disable_chaining()
    for line in shown.execute_and_collect():
        print(label, line)
