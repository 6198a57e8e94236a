# compare: exact
from py4j.protocol import Py4JJavaError
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Fails(KeyedProcessFunction):
    def __init__(self, where):
        self.where = where

    def open(self, runtime_context):
        if self.where == "open":
            raise ValueError("in open")

    def process_element(self, value, ctx):
        if self.where == "element":
            raise KeyError("in element")
        ctx.timer_service().register_event_time_timer(10)
        yield value

    def on_timer(self, timestamp, ctx):
        if self.where == "timer":
            raise ArithmeticError("in timer")


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
for where, name in (("open", "ValueError"), ("element", "KeyError"), ("timer", "ArithmeticError")):
    stream = env.from_collection([1], Types.INT()).key_by(lambda n: n, Types.INT())
    try:
        print(where, list(stream.process(Fails(where), Types.INT()).execute_and_collect()))
    except Py4JJavaError as error:
        print(where, "failed", name in str(error), "in " + where in str(error), isinstance(error.errmsg, str))
    except Exception as error:
        print(where, "another error", name in str(error))
client = env.from_collection([0], Types.INT()).map(lambda n: 1 // n, Types.INT()).print()
try:
    env.execute_async().get_job_execution_result().result()
    print("it ran")
except Exception as error:
    print("failed later", "ZeroDivisionError" in str(error))
