# compare: exact
from pyflink.common import Configuration

config = Configuration()
config.set_string("text", "hello").set_integer("number", 5).set_boolean("flag", True).set_float("float", 0.5)
print(sorted(config.to_dict().items()))
target = {"before": 1}
config.add_all_to_dict(target)
print(sorted((key, type(value).__name__, value) for key, value in target.items()))
print(str(Configuration()), str(Configuration().set_string("a", "b")))
print(str(Configuration().set_integer("n", 1)), str(Configuration().set_boolean("b", False)))
print(str(Configuration().set_float("f", 1.5)))
one = Configuration().set_string("a", "1")
two = Configuration(one).set_string("b", "2")
print(sorted(one.key_set()), sorted(two.key_set()), two == one, one == Configuration().set_string("a", "1"))
print(Configuration().set_integer("a", 1) == Configuration().set_string("a", "1"))
import copy
three = copy.deepcopy(two)
three.set_string("c", "3")
print(sorted(two.key_set()), sorted(three.key_set()))
print(hash(one) == hash(Configuration().set_string("a", "1")))
