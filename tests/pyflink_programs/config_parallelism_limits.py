# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()


def tried(label, call):
    try:
        call()
        print(label, "taken", env.get_parallelism(), env.get_max_parallelism())
    except Exception:
        print(label, "refused", env.get_max_parallelism())


env.set_parallelism(2)
tried("max 4", lambda: env.set_max_parallelism(4))
tried("max 0", lambda: env.set_max_parallelism(0))
tried("max 32768", lambda: env.set_max_parallelism(32768))
tried("max 32769", lambda: env.set_max_parallelism(32769))
tried("parallelism 0", lambda: env.set_parallelism(0))
tried("parallelism -5", lambda: env.set_parallelism(-5))
env.set_parallelism(2)
env.set_max_parallelism(4)
numbers = env.from_collection([1, 2], Types.INT())
print(numbers.get_name(), type(numbers.get_type()).__name__, numbers.get_type())
tried("collection in parallel", lambda: numbers.set_parallelism(2))
mapped = numbers.map(lambda n: n, Types.INT()).name("same").uid("same-uid")
print(mapped.get_name(), mapped.force_non_parallel().get_name())
tried("operator 0", lambda: numbers.map(lambda n: n).set_parallelism(0))
tried("operator max 0", lambda: numbers.map(lambda n: n).set_max_parallelism(0))
tried("operator max 7", lambda: numbers.map(lambda n: n).set_max_parallelism(7))
tried("no operators", lambda: StreamExecutionEnvironment.get_execution_environment().execute())
