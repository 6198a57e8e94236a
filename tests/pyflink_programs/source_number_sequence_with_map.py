# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_source(NumberSequenceSource(1, 20), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
print(sorted(numbers.filter(lambda n: n % 3 == 0).execute_and_collect()))
