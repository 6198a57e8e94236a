# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection(list(range(10)), Types.INT())
print(numbers.execute_and_collect(limit=3))
print(numbers.execute_and_collect("a name", 4))
print(numbers.execute_and_collect(limit=100))
print(numbers.map(lambda n: n * 2, Types.INT()).set_parallelism(1).execute_and_collect(limit=5))
with numbers.execute_and_collect() as results:
    print(next(results), next(results))
results = numbers.execute_and_collect()
first = results.next()
results.close()
print(first)
both = zip(numbers.execute_and_collect(), numbers.execute_and_collect())
print([a + b for a, b in both])
one_key = numbers.key_by(lambda n: "all", Types.STRING()).map(lambda n: -n, Types.INT())
print(list(one_key.execute_and_collect()))
