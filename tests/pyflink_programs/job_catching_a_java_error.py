# compare: sorted
from py4j.protocol import Py4JError, Py4JJavaError
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def divide(n):
    return 10 // n


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1, 0], Types.INT()).map(divide, Types.INT()).filter(lambda n: False).print()
try:
    env.execute()
except Py4JJavaError as error:
    print("caught", isinstance(error, Py4JError))
    print("ZeroDivisionError" in str(error))
try:
    list(env.from_collection([0], Types.INT()).map(divide, Types.INT()).execute_and_collect())
except Py4JJavaError:
    print("caught again")
