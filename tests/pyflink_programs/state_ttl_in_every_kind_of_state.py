# compare: exact
from pyflink.common import Time, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else 0.0

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class All(KeyedProcessFunction):
    def open(self, context):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(2))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .build()
        )
        descriptors = [
            ValueStateDescriptor("value", Types.INT()),
            ListStateDescriptor("list", Types.INT()),
            MapStateDescriptor("map", Types.INT(), Types.INT()),
            ReducingStateDescriptor("reducing", lambda a, b: a * b, Types.INT()),
            AggregatingStateDescriptor("aggregating", Mean(), Types.PICKLED_BYTE_ARRAY()),
        ]
        for descriptor in descriptors:
            descriptor.enable_time_to_live(ttl)
        value, many, pairs, product, mean = descriptors
        self.value = context.get_state(value)
        self.many = context.get_list_state(many)
        self.pairs = context.get_map_state(pairs)
        self.product = context.get_reducing_state(product)
        self.mean = context.get_aggregating_state(mean)

    def process_element(self, value, ctx):
        self.value.update(value)
        self.many.add(value)
        self.pairs.put(value, value * value)
        self.product.add(value)
        self.mean.add(value)
        yield "%s %s %s %s %s" % (
            self.value.value(),
            list(self.many.get()),
            sorted(self.pairs.items()),
            self.product.get(),
            self.mean.get(),
        )


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([2, 4, 3, 6], Types.INT()).key_by(lambda n: n % 2, Types.INT()).process(All(), Types.STRING()).print()
env.execute()
