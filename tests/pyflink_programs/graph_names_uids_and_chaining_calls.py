# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
source = env.from_collection([1, 2, 3], Types.INT()).name("numbers").uid("numbers-uid")
print(source.get_name(), source.get_type())
doubled = source.map(lambda n: n * 2, Types.INT()).name("doubled").uid("doubled-uid").start_new_chain().set_max_parallelism(16)
print(doubled.get_name(), doubled.get_type())
text = doubled.map(str, Types.STRING()).set_description("as text").disable_chaining().slot_sharing_group("default").set_buffer_timeout(50)
print(text.get_name(), text.get_type())
text.filter(lambda s: s != "4").uid("filter").print("end").name("printer").uid("print-uid").disable_chaining()
env.execute()
print(source.filter(lambda n: True).get_name(), source.flat_map(lambda n: [n]).get_name(), source.key_by(lambda n: n).reduce(max).get_name())
print(source.map(lambda n: n).get_type(), source.key_by(lambda n: n).sum(0).get_name())
