# compare: exact
from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment

config = Configuration()
config.set_string("my.text", "hello").set_integer("my.number", 5).set_boolean("my.flag", True).set_float("my.float", 0.5)
config.set_bytearray("my.bytes", bytearray(b"abc"))
print(config.get_string("my.text", "-"), config.get_integer("my.number", 0), config.get_boolean("my.flag", False))
print(config.get_float("my.float", 0.0), config.get_bytearray("my.bytes", bytearray()), config.get_string("absent", "default"))
print(config.contains_key("my.text"), config.contains_key("absent"), config.remove_config("my.text"), config.remove_config("my.text"))
print(sorted(config.key_set()))
print(config.get_string("my.number", ""))
other = Configuration()
other.set_string("x", "1")
other.add_all(config, "pre.")
print(sorted(other.to_dict().items() - {("pre.my.bytes", other.to_dict().get("pre.my.bytes"))}))
print(Configuration.from_dict({"a": "b"}).to_dict())
print(config == config, Configuration() == Configuration())

config = Configuration()
config.set_integer("parallelism.default", 3)
env = StreamExecutionEnvironment.get_execution_environment(config)
print(env.get_parallelism())
env.set_parallelism(1)
print(env.get_parallelism(), env.get_config().get_parallelism())
