# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Basket(KeyedProcessFunction):
    def open(self, runtime_context):
        self.items = runtime_context.get_map_state(MapStateDescriptor("items", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        user, action, item = value
        if action == "add":
            self.items.put(item, (self.items.get(item) or 0) + 1)
        elif action == "remove":
            if self.items.contains(item):
                self.items.remove(item)
        elif action == "many":
            # PyFlink takes a dict here in thread mode only; in process mode it wants pairs, against its own signature
            self.items.put_all({name: 10 for name in item.split("+")})
        elif action == "clear":
            self.items.clear()
        state = sorted(self.items.items())
        yield "%s %s %s keys=%s sum=%d empty=%s" % (
            user, action, state, sorted(self.items.keys()), sum(self.items.values()), self.items.is_empty()
        )


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
actions = [
    ("ann", "add", "tea"), ("bob", "add", "ink"), ("ann", "add", "tea"), ("ann", "add", "cup"), ("ann", "remove", "tea"),
    ("bob", "remove", "tea"), ("bob", "many", "ink+pen"), ("bob", "clear", ""), ("ann", "add", "tea"),
]
stream = env.from_collection(actions, Types.TUPLE([Types.STRING(), Types.STRING(), Types.STRING()]))
stream.key_by(lambda v: v[0]).process(Basket(), Types.STRING()).print()
env.execute()
