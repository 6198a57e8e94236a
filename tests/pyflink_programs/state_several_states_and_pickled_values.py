# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor


class Profile(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.PICKLED_BYTE_ARRAY()))
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.pages = runtime_context.get_map_state(
            MapStateDescriptor("pages", Types.STRING(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value, ctx):
        user, page = value
        seen = self.seen.value() or set()
        new = page not in seen
        seen.add(page)
        self.seen.update(seen)
        self.count.update((self.count.value() or 0) + 1)
        self.pages.put(page, {"visits": (self.pages.get(page) or {"visits": 0})["visits"] + 1})
        yield user, page, new, self.count.value(), self.pages.get(page)["visits"], len(seen)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
visits = env.from_collection(
    [("u1", "/"), ("u2", "/"), ("u1", "/a"), ("u1", "/"), ("u2", "/b"), ("u1", "/")],
    Types.TUPLE([Types.STRING(), Types.STRING()]),
)
out = Types.TUPLE([Types.STRING(), Types.STRING(), Types.BOOLEAN(), Types.LONG(), Types.INT(), Types.INT()])
visits.key_by(lambda v: v[0]).process(Profile(), out).print()
env.execute()
