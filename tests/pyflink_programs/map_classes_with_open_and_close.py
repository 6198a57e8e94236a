# compare: exact
from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction, RuntimeContext, StreamExecutionEnvironment


class AddTax(MapFunction):
    def __init__(self, percent):
        self.percent = percent

    def open(self, runtime_context: RuntimeContext):
        self.seen = 0

    def map(self, value):
        self.seen += 1
        name, price = value
        return self.seen, name, price + price * self.percent // 100


class Expensive(FilterFunction):
    def __init__(self):
        self.limit = None

    def open(self, runtime_context: RuntimeContext):
        self.limit = 100

    def filter(self, value):
        return value[2] > self.limit


class Words(FlatMapFunction):
    def flat_map(self, value):
        for word in value[1].split(" "):
            yield word, value[2]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
goods = env.from_collection(
    [("red chair", 100), ("cup", 5), ("long table", 300), ("oil lamp", 90)],
    Types.TUPLE([Types.STRING(), Types.INT()]),
)
taxed = goods.map(AddTax(20), Types.TUPLE([Types.INT(), Types.STRING(), Types.INT()]))
taxed.filter(Expensive()).flat_map(Words(), Types.TUPLE([Types.STRING(), Types.INT()])).print()
env.execute("prices")
