# compare: exact
import enum
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

Point = namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Car:
    name: str
    color: Color


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
things = [Point(1, 2), Car("a", Color.RED), Color.BLUE, OrderedDict(b=1, a=2), frozenset([1]), range(3), 1 + 2j, None is None, b"x"]
for thing in env.from_collection(things).map(lambda t: (type(t).__name__, t)).execute_and_collect():
    print(thing)
cars = env.from_collection([Car("a", Color.RED), Car("b", Color.BLUE), Car("c", Color.RED)])
counts = cars.map(lambda car: (car.color.name, 1), Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda p: p[0], Types.STRING()).sum(1)
print(list(counts.execute_and_collect()))
