# compare: exact
from pyflink.common import Configuration

config = Configuration()
config.set_string("number", "12").set_string("word", "twelve").set_string("truth", "TRUE").set_string("real", "1.5")
config.set_integer("i", 3).set_float("f", 0.5).set_boolean("b", True).set_bytearray("raw", bytearray(b"ab"))


def tried(label, call):
    try:
        result = call()
        print(label, type(result).__name__, result)
    except Exception:
        print(label, "is refused")


tried("integer of text", lambda: config.get_integer("number", 0))
tried("integer of word", lambda: config.get_integer("word", 0))
tried("integer of real", lambda: config.get_integer("real", 0))
tried("float of text", lambda: config.get_float("real", 0.0))
tried("float of integer", lambda: config.get_float("i", 0.0))
tried("boolean of text", lambda: config.get_boolean("truth", False))
tried("boolean of word", lambda: config.get_boolean("word", False))
tried("boolean of integer", lambda: config.get_boolean("i", False))
tried("string of integer", lambda: config.get_string("i", ""))
tried("string of boolean", lambda: config.get_string("b", ""))
tried("string of float", lambda: config.get_string("f", ""))
tried("bytes", lambda: config.get_bytearray("raw", bytearray()))
tried("missing integer", lambda: config.get_integer("nothing", 7))
tried("missing boolean", lambda: config.get_boolean("nothing", True))
tried("missing float", lambda: config.get_float("nothing", 2.5))
tried("missing string", lambda: config.get_string("nothing", "x"))
tried("missing bytes", lambda: config.get_bytearray("nothing", bytearray(b"z")))
tried("contains", lambda: (config.contains_key("i"), config.contains_key("nothing")))
tried("remove", lambda: (config.remove_config("i"), config.remove_config("i"), config.contains_key("i")))
other = Configuration()
other.add_all(config, "pre.")
tried("with prefix", lambda: sorted(other.key_set()))
other.add_all(config)
tried("all", lambda: len(other.key_set()))
copy = Configuration(config)
copy.set_string("word", "other")
tried("copy is its own", lambda: (config.get_string("word", ""), copy.get_string("word", "")))
tried("equal", lambda: (config == Configuration(config), config == copy, hash(config) == hash(Configuration(config))))
tried("add to dict", lambda: config.to_dict().get("number"))
