# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def divide(n):
    if n == 0:
        raise ZeroDivisionError("cannot divide by %d, sorry" % n)
    return 100 // n


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([5, 0, 2], Types.INT()).map(divide, Types.INT())
numbers.filter(lambda n: False).print()
try:
    env.execute("fails")
    print("finished")
except Exception as error:
    # the class is Py4JJavaError in PyFlink; only that it is an Exception with the cause in its text matters
    print(isinstance(error, Exception), "cannot divide by 0, sorry" in str(error), "ZeroDivisionError" in str(error))
try:
    list(numbers.execute_and_collect())
    print("finished")
except Exception as error:
    print("cannot divide by 0, sorry" in str(error))
