# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment


class BadOpen(MapFunction):
    def open(self, runtime_context):
        raise RuntimeError("open went wrong")

    def map(self, value):
        return value


class BadTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp, ctx):
        raise LookupError("timer %d went wrong" % timestamp)
        yield


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1], Types.INT())
for stream, message in [
    (lambda: numbers.map(BadOpen(), Types.INT()), "open went wrong"),
    (lambda: numbers.key_by(lambda n: n).process(BadTimer(), Types.INT()), "timer 5 went wrong"),
    (lambda: numbers.key_by(lambda n: n["x"]).reduce(lambda a, b: a), "TypeError"),
    (lambda: numbers.flat_map(lambda n: None, Types.INT()), "not iterable"),
]:
    stream().print()
    try:
        env.execute()
        print("finished", message)
    except Exception as error:
        print(message, message in str(error))
