# compare: exact
from decimal import Decimal

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Total(KeyedProcessFunction):
    def open(self, context):
        self.total = context.get_state(ValueStateDescriptor("total", Types.BIG_DEC()))

    def process_element(self, value, ctx):
        total = (self.total.value() or Decimal("0")) + value[1]
        self.total.update(total)
        yield value[0], total


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
prices = [("a", Decimal("1.10")), ("b", Decimal("99999999999999.123456")), ("a", Decimal("2.205")), ("b", Decimal("-0.5"))]
pair = Types.TUPLE([Types.STRING(), Types.BIG_DEC()])
stream = env.from_collection(prices, pair).key_by(lambda v: v[0], Types.STRING()).process(Total(), pair)
print([(key, str(value)) for key, value in stream.execute_and_collect()])
large = env.from_collection([1, 2**63 - 1, -(2**63), 2**40], Types.LONG()).map(lambda n: n // 3, Types.LONG())
print(list(large.execute_and_collect()))
halves = env.from_collection([1, 2, 3], Types.INT()).map(lambda n: Decimal(n) / 4, Types.BIG_DEC())
print([str(n) for n in halves.execute_and_collect()])
