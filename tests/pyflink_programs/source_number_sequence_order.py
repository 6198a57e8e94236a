# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_source(NumberSequenceSource(1, 7), WatermarkStrategy.no_watermarks(), "numbers").map(
    lambda n: (n % 2, n), Types.TUPLE([Types.LONG(), Types.LONG()])
).key_by(lambda v: v[0]).sum(1).print()
env.execute()
