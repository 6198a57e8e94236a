# compare: exact
from pyflink.common import Configuration

config = Configuration.from_dict({"i": "12", "b": "true", "f": "1.25", "t": "text", "neg": "-3", "upper": "TRUE"})


def show(call):
    try:
        print(repr(call()))
    except Exception:
        print("is refused")


show(lambda: config.get_integer("i", 0))
show(lambda: config.get_float("i", 0.0))
show(lambda: config.get_boolean("b", False))
show(lambda: config.get_boolean("upper", False))
show(lambda: config.get_boolean("t", False))
show(lambda: config.get_integer("t", 0))
show(lambda: config.get_integer("f", 0))
show(lambda: config.get_float("f", 0.0))
show(lambda: config.get_string("i", ""))
show(lambda: config.get_integer("neg", 0))
show(lambda: config.get_integer("absent", 7))
show(lambda: config.get_float("absent", 7))
show(lambda: config.get_string("absent", None))
show(lambda: config.get_boolean("absent", True))
show(lambda: config.get_bytearray("absent", bytearray(b"x")))
show(lambda: Configuration().set_float("x", 3).get_string("x", ""))
show(lambda: Configuration().set_float("x", 1e10).get_string("x", ""))
show(lambda: Configuration().set_boolean("x", True).get_string("x", ""))
show(lambda: Configuration().set_integer("x", 5).get_float("x", 0.0))
show(lambda: Configuration().set_integer("x", 2**40).get_integer("x", 0))
show(lambda: Configuration().set_bytearray("x", bytearray(b"ab")).get_bytearray("x", bytearray()))
show(lambda: Configuration().set_integer("x", 1).get_boolean("x", False))
