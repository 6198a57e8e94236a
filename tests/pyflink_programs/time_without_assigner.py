# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Look(ProcessFunction):
    def process_element(self, value, ctx):
        yield "%s %s %s" % (value, ctx.timestamp(), ctx.timer_service().current_watermark())


class KeyedLook(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield "%s %s %s" % (value, ctx.timestamp(), ctx.timer_service().current_watermark())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
stream = env.from_collection(["x", "y"], Types.STRING())
stream.process(Look(), Types.STRING()).print("plain")
env.execute()
stream.key_by(lambda v: v).process(KeyedLook(), Types.STRING()).print("keyed")
env.execute()
