# compare: exact
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment, MapFunction, ProcessFunction
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
s = lambda n=10: env.from_collection(list(range(n)), Types.INT())
print(list(s().execute_and_collect()))
print(list(s().execute_and_collect(limit=3)))
print(list(s().execute_and_collect(job_execution_name="x", limit=4)))
print(list(s().map(lambda v: v, Types.INT()).set_parallelism(1).execute_and_collect()))
print(list(s().filter(lambda v: v % 2).set_parallelism(1).execute_and_collect(limit=2)))
print(sorted(s().map(lambda v: v, Types.INT()).execute_and_collect()))
print(
    list(
        env.from_source(NumberSequenceSource(1, 5), WatermarkStrategy.no_watermarks(), "s", Types.LONG())
        .set_parallelism(1)
        .execute_and_collect()
    )
)
print(
    list(
        env.from_source(NumberSequenceSource(1, 5), WatermarkStrategy.no_watermarks(), "s")
        .set_parallelism(1)
        .execute_and_collect()
    )
)
print(list(s().key_by(lambda v: 0, Types.INT()).map(lambda v: v, Types.INT()).execute_and_collect()))
print(list(s().key_by(lambda v: 0, Types.INT()).count_window(5).reduce(lambda a, b: a + b).execute_and_collect()))
print(list(env.from_collection([], Types.INT()).execute_and_collect()))
r = s(4).execute_and_collect()
print(next(r), next(r))
r.close()
try:
    print(list(r))
except Exception as e:
    print(type(e).__name__)
