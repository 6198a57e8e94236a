# compare: sorted
import datetime
from decimal import Decimal
from pyflink.common import Instant, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1], Types.INT())
numbers.map(lambda n: datetime.date(2024, 2, 29), Types.SQL_DATE()).map(lambda d: repr(d), Types.STRING()).print()
numbers.map(lambda n: datetime.time(23, 59, 1, 250000), Types.SQL_TIME()).map(lambda d: repr(d), Types.STRING()).print()
numbers.map(lambda n: datetime.datetime(2024, 2, 29, 1, 2, 3, 45000), Types.SQL_TIMESTAMP()).map(repr, Types.STRING()).print()
numbers.map(lambda n: Instant.of_epoch_milli(123456), Types.INSTANT()).map(lambda i: str(i.to_epoch_milli()), Types.STRING()).print()
numbers.map(lambda n: Decimal("12.50"), Types.BIG_DEC()).map(lambda d: "%.2f" % d, Types.STRING()).print()
numbers.map(lambda n: 2**70, Types.BIG_INT()).map(lambda d: repr(d), Types.STRING()).print()
env.execute()
