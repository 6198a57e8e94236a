# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
cases = [
    ("string", ["tea", "", "grün"], Types.STRING()),
    ("int", [1, -2, 2147483647], Types.INT()),
    ("long", [1, -9223372036854775808, 9223372036854775807], Types.LONG()),
    ("short", [1, -32768], Types.SHORT()),
    ("byte", [1, -128, 127], Types.BYTE()),
    ("boolean", [True, False], Types.BOOLEAN()),
    ("double", [1.0, 0.1, -2.5e30], Types.DOUBLE()),
    ("float", [1.5, 0.1], Types.FLOAT()),
    ("big_int", [12345678901234567890], Types.BIG_INT()),
]
for label, values, type_info in cases:
    with env.from_collection(values, type_info).execute_and_collect() as results:
        print(label, [repr(v) for v in results])
