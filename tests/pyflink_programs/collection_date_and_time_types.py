# compare: exact
import datetime
import decimal

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
cases = [
    ("date", [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)], Types.SQL_DATE()),
    ("time", [datetime.time(23, 59, 58)], Types.SQL_TIME()),
    ("decimal", [decimal.Decimal("12.50"), decimal.Decimal("-0.001")], Types.BIG_DEC()),
]
for label, values, type_info in cases:
    with env.from_collection(values, type_info).execute_and_collect() as results:
        for value in results:
            print(label, repr(value))
