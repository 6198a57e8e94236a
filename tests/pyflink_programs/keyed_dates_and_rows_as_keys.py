# compare: sorted
from datetime import date, datetime, time

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Days(KeyedProcessFunction):
    def open(self, context):
        self.seen = context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.LONG()))

    def process_element(self, value, ctx):
        name = str(value[1])
        self.seen.put(name, (self.seen.get(name) or 0) + 1)
        yield "%s: %s" % (ctx.get_current_key(), sorted(self.seen.items()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
days = [(date(2026, 1, 2), 1), (date(2026, 1, 3), 2), (date(2026, 1, 2), 1), (date(2026, 1, 2), 3)]
kind = Types.TUPLE([Types.SQL_DATE(), Types.INT()])
env.from_collection(days, kind).key_by(lambda v: v[0], Types.SQL_DATE()).process(Days(), Types.STRING()).print()
moments = [(datetime(2026, 1, 2, 3, 4, 5, 678000), 1), (datetime(2026, 1, 2, 3, 4, 5, 678000), 2), (datetime(2026, 1, 2), 3)]
kind = Types.TUPLE([Types.SQL_TIMESTAMP(), Types.INT()])
env.from_collection(moments, kind).key_by(lambda v: v[0], Types.SQL_TIMESTAMP()).process(Days(), Types.STRING()).print()
pairs = [(1, 1), (2, 2), (1, 3)]
env.from_collection(pairs, Types.TUPLE([Types.INT(), Types.INT()])).key_by(
    lambda v: Row(v[0], "k%d" % v[0]), Types.ROW([Types.INT(), Types.STRING()])
).process(Days(), Types.STRING()).print()
env.execute()
