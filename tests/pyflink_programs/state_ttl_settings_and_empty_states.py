# compare: exact
from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, StateTtlConfig,
                                      ValueStateDescriptor)


class Empty(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = (StateTtlConfig.new_builder(Time.hours(1))
               .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
               .set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)
               .cleanup_full_snapshot().cleanup_incrementally(10, True).build())
        value = ValueStateDescriptor("value", Types.INT())
        value.enable_time_to_live(ttl)
        self.value = runtime_context.get_state(value)
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT()))

    def look(self):
        return "%s %s %s %s %s" % (
            self.value.value(), list(self.list.get() or []), sorted(self.map.items()), self.map.is_empty(), self.sum.get())

    def process_element(self, value, ctx):
        yield self.look()
        self.value.update(value)
        self.list.add_all([value, value + 1])
        self.map.put("a", value)
        self.map.put_all([("b", 1)])
        self.sum.add(value)
        self.sum.add(1)
        yield self.look()
        self.list.update([9])
        self.map.remove("a")
        self.map.remove("nothing")
        yield "%s %s %s" % (self.look(), self.map.contains("b"), self.map.get("nothing"))
        for state in (self.value, self.list, self.map, self.sum):
            state.clear()
        yield self.look()
        self.list.update([])
        yield self.look()


config = StateTtlConfig.new_builder(Time.seconds(5)).never_return_expired().update_ttl_on_create_and_write().build()
print(config.get_update_type(), config.get_state_visibility(), config.get_ttl(), config.is_enabled())
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([4], Types.INT()).key_by(lambda n: n, Types.INT()).process(Empty(), Types.STRING()).print()
env.execute()
