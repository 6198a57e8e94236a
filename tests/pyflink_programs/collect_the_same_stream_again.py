# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([3, 1, 2], Types.INT()).map(lambda n: n * n, Types.INT())
print(list(numbers.execute_and_collect()))
print(list(numbers.execute_and_collect("again")))
print(numbers.execute_and_collect(limit=2))
print(numbers.execute_and_collect("limited", 1))
with numbers.filter(lambda n: n > 1).execute_and_collect() as results:
    print(next(results))
    print(next(results))
    try:
        next(results)
        print("more")
    except StopIteration:
        print("no more")
text = numbers.map(str, Types.STRING())
print("-".join(text.execute_and_collect()))
print(numbers.execute_and_collect(limit=100))
