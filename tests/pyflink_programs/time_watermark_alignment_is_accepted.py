# compare: sorted
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
strategy = WatermarkStrategy.for_monotonous_timestamps() \
    .with_watermark_alignment("group", Duration.of_seconds(20), Duration.of_seconds(1))
numbers = env.from_source(NumberSequenceSource(1, 5), strategy, "numbers", Types.LONG())
others = env.from_source(NumberSequenceSource(11, 13), strategy, "others", Types.LONG())
numbers.union(others).map(lambda n: n * 2, Types.LONG()).print()
env.execute()
