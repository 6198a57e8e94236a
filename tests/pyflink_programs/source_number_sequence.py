# compare: sorted-noprefix
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_source(NumberSequenceSource(1, 10), WatermarkStrategy.no_watermarks(), "numbers")
numbers.map(lambda n: n * n, Types.LONG()).print()
env.execute()
env.from_source(NumberSequenceSource(5, 5), WatermarkStrategy.no_watermarks(), "one", Types.LONG()).print("one")
env.execute()
env.set_parallelism(2)
env.from_source(NumberSequenceSource(1, 6), WatermarkStrategy.for_monotonous_timestamps(), "parallel").print("parallel")
env.execute()
