# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Timers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        command, time = value[1], value[2]
        if command == "set":
            timers.register_event_time_timer(time)
        else:
            timers.delete_event_time_timer(time)

    def on_timer(self, timestamp, ctx):
        yield "%s fired %d" % (ctx.get_current_key(), timestamp)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
commands = [
    ("a", "set", 100), ("a", "set", 100), ("a", "set", 300), ("b", "set", 200), ("a", "delete", 300),
    ("b", "delete", 999), ("a", "set", 50), ("b", "delete", 100), ("b", "set", 350), ("a", "delete", 50), ("a", "set", 50),
]
stream = env.from_collection(commands, Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()]))
stream.key_by(lambda v: v[0]).process(Timers(), Types.STRING()).print()
env.execute()
