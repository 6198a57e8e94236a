# compare: exact
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Counting(MapFunction):
    def open(self, runtime_context):
        group = runtime_context.get_metrics_group().add_group("mine")
        self.counter = group.counter("records")
        self.histogram = group.distribution("sizes")
        self.meter = group.meter("rate")
        self.last = 0
        group.gauge("last", lambda: self.last)

    def map(self, value):
        self.counter.inc()
        self.counter.inc(2)
        self.counter.dec()
        self.histogram.update(value)
        self.meter.mark_event()
        self.last = value
        return self.counter.get_count()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([10, 20, 30], Types.INT()).map(Counting(), Types.LONG()).print()
env.execute()
