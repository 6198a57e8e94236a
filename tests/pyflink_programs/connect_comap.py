# compare: sorted
from pyflink.common import Types
from pyflink.datastream import CoMapFunction, StreamExecutionEnvironment


class Label(CoMapFunction):
    def open(self, runtime_context):
        self.prefix = "got"

    def map1(self, value):
        return "%s number %d" % (self.prefix, value)

    def map2(self, value):
        if value == "skip":
            return None
        return "%s word %s" % (self.prefix, value)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2], Types.INT())
words = env.from_collection(["x", "skip", "y"], Types.STRING())
numbers.connect(words).map(Label(), Types.STRING()).print()
env.execute()
