# compare: sorted
from pyflink.common import Types
from pyflink.datastream import KeyedBroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

limits = MapStateDescriptor("limits", Types.STRING(), Types.INT())


class OverLimit(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.values = runtime_context.get_list_state(ListStateDescriptor("values", Types.INT()))

    def process_element(self, value, ctx):
        self.values.add(value[1])
        ctx.timer_service().register_event_time_timer(1)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(limits).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        key = ctx.get_current_key()
        limit = ctx.get_broadcast_state(limits).get(key)
        yield "%s limit %s over %s" % (key, limit, [v for v in sorted(self.values.get()) if limit is not None and v > limit])


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
values = env.from_collection([("a", 5), ("b", 50), ("a", 20), ("c", 1), ("b", 7)], pair)
updates = env.from_collection([("a", 10), ("b", 1), ("b", 10)], pair)
values.key_by(lambda v: v[0], Types.STRING()).connect(updates.broadcast(limits)).process(OverLimit(), Types.STRING()).print()
env.execute()
