# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Later(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("z", 40), ("a", 90), ("m", 10), ("b", 9223372036854775807), ("z", 70), ("c", -5), ("a", 20), ("k", 0)]
stream = env.from_collection(data, Types.TUPLE([Types.STRING(), Types.LONG()]))
stream.key_by(lambda v: v[0]).process(Later(), Types.TUPLE([Types.STRING(), Types.LONG()])).print()
env.execute()
