# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor
from pyflink.common import Time


class Show(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = StateTtlConfig.new_builder(Time.days(1)) \
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite) \
            .set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp) \
            .cleanup_full_snapshot().build()
        descriptor = ValueStateDescriptor("count", Types.INT())
        descriptor.enable_time_to_live(ttl)
        self.count = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield "%s %s" % (value[0], self.count.value())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)], Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.key_by(lambda p: p[0], Types.STRING()).process(Show(), Types.STRING()).print()
env.execute()
