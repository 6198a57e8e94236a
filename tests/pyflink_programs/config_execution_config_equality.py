# compare: exact
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
config, same = env.get_config(), env.get_config()
print(config == config, config == same, config != same, hash(config) == hash(same), config == "config")
config.set_parallelism(12)
same.set_parallelism(11)
print(config == same, config.get_parallelism())
config.enable_object_reuse()
print(same.is_object_reuse_enabled())
other = StreamExecutionEnvironment.get_execution_environment().get_config()
other.set_parallelism(3)
print(config == other, config != other)
