# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.set_max_parallelism(64)
numbers = env.from_sequence(1, 1000) if hasattr(env, "from_sequence") else env.from_collection(range(1, 1001), Types.LONG())
for n in numbers.execute_and_collect():
    if n == 3:
        break
    print(n)
with numbers.map(lambda n: n * 2, Types.LONG()).execute_and_collect("named") as results:
    for n in results:
        print(n)
        if n > 5:
            break
print(numbers.execute_and_collect(limit=4))
print(numbers.execute_and_collect("limited", 2))
print(env.from_collection([1], Types.INT()).execute_and_collect(limit=4))
try:
    print(numbers.execute_and_collect(limit=0))
except Exception as error:
    print("refused")
results = numbers.execute_and_collect()
print(next(results), next(results))
results.close()
few = env.from_collection(["a", "b"], Types.STRING()).execute_and_collect()
print(next(few), next(few))
try:
    next(few)
except StopIteration:
    print("no more")
first = env.from_collection([1, 2], Types.INT())
second = env.from_collection([3], Types.INT())
third = env.from_collection([4, 5], Types.INT())
print(sorted(first.union(second, third, first).execute_and_collect()))
mapped = first.map(lambda n: n, Types.INT()).set_max_parallelism(12)
print(mapped.get_name(), env.get_max_parallelism())
for bad in (0, -1, 32769, 32768):
    try:
        env.set_max_parallelism(bad)
        print(bad, env.get_max_parallelism())
    except Exception:
        print(bad, "refused")
