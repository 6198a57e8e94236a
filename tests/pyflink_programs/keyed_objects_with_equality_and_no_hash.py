# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __repr__(self):
        return "Point(%d, %d)" % (self.x, self.y)


class Slotted:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other.name


class Plain:
    def __init__(self, n):
        self.n = n


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        n = (self.count.value() or 0) + 1
        self.count.update(n)
        key = ctx.get_current_key()
        yield "%s %s %d" % (type(key).__name__, value, n)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4, 5, 1], Types.INT())
print(list(numbers.key_by(lambda n: Point(n % 2, 0)).process(Count(), Types.STRING()).execute_and_collect()))
print(list(numbers.key_by(lambda n: Slotted("ab"[n % 2])).process(Count(), Types.STRING()).execute_and_collect()))
print(list(numbers.key_by(lambda n: (Point(n % 2, 0), "x")).process(Count(), Types.STRING()).execute_and_collect()))
print(list(numbers.key_by(lambda n: Plain(n % 3)).process(Count(), Types.STRING()).execute_and_collect()))
print(list(numbers.map(lambda n: (Point(n % 2, 0), n)).key_by(lambda p: p[0]).sum(1).map(str, Types.STRING()).execute_and_collect()))
