# compare: sorted-noprefix
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment, KeyedProcessFunction, MapFunction
from pyflink.datastream.connectors.number_seq import NumberSequenceSource


class M(MapFunction):
    def __init__(self, tag):
        self.tag = tag

    def open(self, c):
        self.t = "%s max %d of %d" % (
            self.tag,
            c.get_max_number_of_parallel_subtasks(),
            c.get_number_of_parallel_subtasks(),
        )

    def map(self, v):
        return self.t


class K(KeyedProcessFunction):
    def open(self, c):
        self.t = "keyed max %d of %d" % (c.get_max_number_of_parallel_subtasks(), c.get_number_of_parallel_subtasks())

    def process_element(self, v, ctx):
        yield self.t


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
one = lambda: env.from_collection([1], Types.INT())
one().map(M("chained"), Types.STRING()).set_parallelism(1).print()
one().map(M("after exchange"), Types.STRING()).print()
one().rebalance().map(M("rebalanced"), Types.STRING()).print()
one().map(M("new chain"), Types.STRING()).set_parallelism(1).start_new_chain().print()
one().map(M("set 7"), Types.STRING()).set_parallelism(1).set_max_parallelism(7).print()
one().map(M("set 7 alone"), Types.STRING()).set_max_parallelism(7).map(M("after set 7"), Types.STRING()).print()
one().key_by(lambda v: v).process(K(), Types.STRING()).set_max_parallelism(40).map(lambda x: x, Types.STRING()).print()
env.from_source(NumberSequenceSource(1, 1), WatermarkStrategy.no_watermarks(), "s", Types.LONG()).map(
    M("sequence"), Types.STRING()
).print()
one().map(M("forced"), Types.STRING()).force_non_parallel().map(M("after forced"), Types.STRING()).set_parallelism(
    1
).print()
env.execute()
env.set_max_parallelism(11)
one().map(M("env 11 chained"), Types.STRING()).set_parallelism(1).print()
one().map(M("env 11"), Types.STRING()).print()
env.execute()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1], Types.INT()).map(M("p1"), Types.STRING()).print()
env.execute()
