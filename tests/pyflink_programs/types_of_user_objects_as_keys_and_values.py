# compare: sorted
import collections
import dataclasses
import datetime
import decimal
import enum

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

Point = collections.namedtuple("Point", ["x", "y"])


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Order:
    item: str
    amount: int


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
points = env.from_collection([1, 2, 3], Types.INT()).map(lambda n: Point(n % 2, n))
points.key_by(lambda p: p.x).reduce(lambda a, b: Point(a.x, a.y + b.y)).map(lambda p: "point %d" % p.y, Types.STRING()).print()
orders = env.from_collection([Order("tea", 2), Order("cake", 1), Order("tea", 5)])
orders.key_by(lambda o: Order(o.item, 0)).reduce(lambda a, b: Order(a.item, a.amount + b.amount)).print()
colors = env.from_collection([(Color.RED, 1), (Color.BLUE, 2), (Color.RED, 3)])
colors.key_by(lambda c: c[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).map(lambda c: "%s %d" % c, Types.STRING()).print()
moments = env.from_collection([datetime.datetime(2026, 1, 2, 3, 4, 5, 6789), datetime.date(2026, 1, 2), datetime.timedelta(1, 2)])
moments.map(lambda m: "%s %s" % (type(m).__name__, m), Types.STRING()).print()
numbers = env.from_collection([decimal.Decimal("1.50"), 1 + 2j, 2**80, frozenset([1]), b"raw", None.__class__])
numbers.map(lambda n: "%s %s" % (type(n).__name__, n), Types.STRING()).print()
env.execute()
