# compare: exact
from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Deduplicate(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def filter(self, value):
        if self.seen.value():
            return False
        self.seen.update(True)
        return True


class Numbered(MapFunction):
    def open(self, runtime_context):
        self.number = runtime_context.get_state(ValueStateDescriptor("number", Types.INT()))

    def map(self, value):
        number = (self.number.value() or 0) + 1
        self.number.update(number)
        return number, value


class OnChange(FlatMapFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.STRING()))

    def flat_map(self, value):
        if self.last.value() != value:
            self.last.update(value)
            yield value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["x", "y", "x", "xz", "xz", "y", "yy", "x"], Types.STRING())
words.key_by(lambda w: w, Types.STRING()).filter(Deduplicate()).print("new")
env.execute()
words.key_by(lambda w: w[0], Types.STRING()).map(Numbered(), Types.TUPLE([Types.INT(), Types.STRING()])).print("numbered")
env.execute()
words.key_by(lambda w: w[0], Types.STRING()).flat_map(OnChange(), Types.STRING()).print("changed")
env.execute()
