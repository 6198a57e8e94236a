"""A job whose keys are unevenly spread: two of three records belong to one of a thousand users."""

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
env.enable_checkpointing(10_000)
numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.no_watermarks(), "clicks")
users = numbers.map(
    lambda n: (n % 1000 if n % 3 == 0 else 7, 1), output_type=Types.TUPLE([Types.LONG(), Types.LONG()])
).name("user of the click")
counts = users.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1]))
counts.name("clicks per user").uid("clicks").filter(lambda pair: pair[1] % 1_000_000 == 0).name("milestones").print()
env.execute("skewed clicks")
