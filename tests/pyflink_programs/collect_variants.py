# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4], Types.INT()).map(lambda n: n * n, Types.INT())
with numbers.execute_and_collect("as context manager") as results:
    print(type(results).__name__, [r for r in results])
results = numbers.execute_and_collect()
print(next(results), next(results))
results.close()
limited = numbers.execute_and_collect(limit=2)
print(type(limited).__name__, limited)
print(numbers.execute_and_collect("with name", 10))
iterator = numbers.execute_and_collect()
print(sum(iterator))
rows = env.from_collection([Row("a", [1, 2])], Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.BASIC_ARRAY(Types.INT())]))
for row in rows.execute_and_collect():
    print(row, row.k, list(row.v))
