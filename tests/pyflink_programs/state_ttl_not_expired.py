# compare: exact
# The time to live is an hour, so nothing expires within the run: the configuration must be accepted and change nothing.
from pyflink.common import Types
from pyflink.common.time import Time
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(1))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .cleanup_full_snapshot()
            .build()
        )
        value = ValueStateDescriptor("count", Types.INT())
        value.enable_time_to_live(ttl)
        listed = ListStateDescriptor("list", Types.INT())
        listed.enable_time_to_live(ttl)
        mapped = MapStateDescriptor("map", Types.INT(), Types.STRING())
        mapped.enable_time_to_live(ttl)
        self.count = runtime_context.get_state(value)
        self.listed = runtime_context.get_list_state(listed)
        self.mapped = runtime_context.get_map_state(mapped)

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.listed.add(value)
        self.mapped.put(value, "v%d" % value)
        yield "%d %s %s" % (self.count.value(), list(self.listed.get()), sorted(self.mapped.items()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, 2, 3, 4], Types.INT()).key_by(lambda n: n % 2).process(Count(), Types.STRING()).print()
env.execute()
